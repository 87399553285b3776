// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_values.hpp"

#include <algorithm>
#include <cmath>

#include "models/common/fp16.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/mix.hpp"

namespace lacuna::wse {
namespace {

double half(double value) { return to_float(to_half(static_cast<float>(value))); }

}  // namespace

/// Between -1 and 1, as a half holds it.
double DecodeValues::draw(std::uint64_t what, std::uint64_t i, std::uint64_t j) const {
  constexpr std::uint64_t kSteps = 2048;
  const std::uint64_t drawn = mix(seed_ ^ mix((what << 56U) ^ (i << 28U) ^ j)) % (2 * kSteps + 1);
  return (static_cast<double>(drawn) - kSteps) / kSteps;
}

double DecodeValues::at(Tensor tensor, std::uint32_t input, std::uint32_t output) const {
  const DecoderModel& m = shape_.model();
  const std::uint32_t q = m.heads * m.head_dim;
  const std::uint32_t kv = m.kv_heads * m.head_dim;
  std::uint32_t inputs = m.width;
  std::uint32_t outputs = 1;
  switch (tensor) {
    case Tensor::q:
      outputs = q;
      break;
    case Tensor::k:
    case Tensor::v:
      outputs = kv;
      break;
    case Tensor::o:
      inputs = q;
      outputs = m.width;
      break;
    case Tensor::up:
    case Tensor::gate:
      outputs = m.ffn;
      break;
    case Tensor::down:
      inputs = m.ffn;
      outputs = m.width;
      break;
    case Tensor::q_gain:
    case Tensor::k_gain:
      inputs = m.head_dim;
      break;
    default:
      break;
  }
  if (input >= inputs || output >= outputs) return 0;
  const double drawn = draw(static_cast<std::uint64_t>(tensor), input, output);
  if (outputs == 1) return tensor == Tensor::x ? drawn : half(1 + drawn / 4);
  return half(drawn / std::sqrt(static_cast<double>(inputs)));
}

double DecodeValues::cached(bool value, std::uint32_t head, std::uint32_t position,
                            std::uint32_t feature) const {
  if (feature >= shape_.model().head_dim || position + 1 >= shape_.block().context) return 0;
  return draw(value ? 101 : 100, std::uint64_t{head} * 65536 + position, feature);
}

double DecodeValues::angle(std::uint32_t pair) const {
  constexpr double kBase = 10000;
  const double share = 2.0 * pair / shape_.model().head_dim;
  return std::fmod(shape_.block().context - 1, 1000.0) * std::pow(kBase, -share);
}

void DecodeValues::fill(TaskProgram& program) const {
  const DecodeSpace space(shape_);
  const DecodeBlock& block = shape_.block();
  const bool wide = shape_.model().wide_sums;
  const Element sum = wide ? Element::fp32 : Element::fp16;
  const unsigned bytes = wide ? 4 : 2;
  const std::uint32_t d = shape_.d();
  const std::uint32_t k = shape_.k();
  const std::uint32_t q = shape_.q();
  const std::uint32_t f = shape_.f();
  const std::uint32_t dim = shape_.model().head_dim;
  // the feature of a head that is number i of the core's, of padding none
  const auto feature = [&](std::uint32_t column, std::uint32_t i) {
    return block.attention ? column % shape_.band() * k + i : 0;
  };
  const auto of_head = [&](std::uint32_t head, std::uint32_t at) {
    return at < dim ? head * dim + at : ~0U;
  };
  program.memory.clear();
  for (std::uint32_t row = 0; row < block.rows; ++row) {
    for (std::uint32_t column = 0; column < block.columns; ++column) {
      MemoryImage image(static_cast<std::uint32_t>(space.image_bytes));
      const auto put = [&](std::uint32_t address, std::uint32_t i, double value) {
        image.put(address + 2 * i, Element::fp16, static_cast<float>(value));
      };
      const auto put_sum = [&](std::uint32_t address, std::uint32_t i, double value) {
        image.put(address + bytes * i, sum, static_cast<float>(value));
      };
      for (std::uint32_t i = 0; i < d; ++i) {
        const std::uint32_t in = row * d + i;
        // of a block that receives, the others have nothing yet
        for (std::uint32_t s = 0; s < block.batch; ++s) {
          put(space.x, s * d + i, block.receives && column != 0 ? 0 : at(Tensor::x, in, 0));
        }
        for (std::uint32_t j = 0; block.ffn && j < f; ++j) {
          put(space.wup, i * 2 * f + j, at(Tensor::up, in, column * f + j));
          put(space.wup, i * 2 * f + f + j, at(Tensor::gate, in, column * f + j));
          put(space.wdown, j * d + i, at(Tensor::down, column * f + j, in));
        }
        if (block.ffn) put(space.ffn_gain, i, at(Tensor::ffn_gain, in, 0));
        if (!block.attention) continue;
        put(space.gain, i, at(Tensor::gain, in, 0));
        const std::uint32_t kv_head = column / shape_.band();
        for (std::uint32_t j = 0; j < q; ++j) {
          const std::uint32_t head = kv_head * shape_.group() + j / k;
          const std::uint32_t out = of_head(head, feature(column, j % k));
          put(space.wq, i * q + j, at(Tensor::q, in, out));
          put(space.wo, j * d + i, at(Tensor::o, out, in));
        }
        for (std::uint32_t j = 0; j < k; ++j) {
          const std::uint32_t out = of_head(kv_head, feature(column, j));
          put(space.wk, i * k + j, at(Tensor::k, in, out));
          put(space.wv, i * k + j, at(Tensor::v, in, out));
        }
      }
      for (std::uint32_t j = 0; block.attention && j < q; ++j) {
        const std::uint32_t here = feature(column, j % k);
        if (shape_.model().qk_norm && j < k) {
          put_sum(space.q_gain, j, at(Tensor::q_gain, here, 0));
          put_sum(space.k_gain, j, at(Tensor::k_gain, here, 0));
        }
        if (j % 2 != 0) continue;
        put_sum(space.cos, j / 2, std::cos(angle(here / 2)));
        put_sum(space.sin, j / 2, std::sin(angle(here / 2)));
      }
      for (std::uint32_t slot = 0; block.attention && slot < shape_.live(row); ++slot) {
        const std::uint32_t position = slot * block.rows + row;
        for (std::uint32_t i = 0; i < k; ++i) {
          const std::uint32_t head = column / shape_.band();
          const std::uint32_t here = feature(column, i);
          for (std::uint32_t s = 0; s < block.batch; ++s) {
            put(space.k_cache, (s * k + i) * shape_.slots() + slot,
                cached(false, head, position, here));
            put(space.v_cache, (s * shape_.slots() + slot) * k + i,
                cached(true, head, position, here));
          }
        }
      }
      program.memory.push_back(std::move(image).take());
    }
  }
}

std::vector<double> DecodeValues::normalised(const std::vector<double>& x, Tensor gain) const {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-6);
  std::vector<double> z;
  for (std::uint32_t i = 0; i < x.size(); ++i) z.push_back(x[i] * scale * at(gain, i, 0));
  return z;
}

std::vector<double> DecodeValues::attention(const std::vector<double>& x) const {
  const DecoderModel& m = shape_.model();
  const std::uint32_t dim = m.head_dim;
  const std::uint32_t context = shape_.block().context;
  const std::vector<double> z = normalised(x, Tensor::gain);
  const auto project = [&](Tensor tensor, std::uint32_t head) {
    std::vector<double> out(dim, 0);
    for (std::uint32_t i = 0; i < m.width; ++i) {
      for (std::uint32_t j = 0; j < dim; ++j) out[j] += z[i] * at(tensor, i, head * dim + j);
    }
    return out;
  };
  const auto rotated = [&](std::vector<double> v, Tensor gain) {
    if (m.qk_norm) v = normalised(v, gain);
    for (std::uint32_t pair = 0; 2 * pair + 1 < dim; ++pair) {
      const double a = v[2 * pair];
      const double b = v[2 * pair + 1];
      v[2 * pair] = a * std::cos(angle(pair)) - b * std::sin(angle(pair));
      v[2 * pair + 1] = a * std::sin(angle(pair)) + b * std::cos(angle(pair));
    }
    return v;
  };
  std::vector<double> out = x;
  for (std::uint32_t head = 0; head < m.heads; ++head) {
    const std::uint32_t kv = head / shape_.group();
    const std::vector<double> q = rotated(project(Tensor::q, head), Tensor::q_gain);
    const std::vector<double> key = rotated(project(Tensor::k, kv), Tensor::k_gain);
    const std::vector<double> value = project(Tensor::v, kv);
    std::vector<double> weights;
    for (std::uint32_t p = 0; p < context; ++p) {
      double score = 0;
      for (std::uint32_t j = 0; j < dim; ++j) {
        score += q[j] * (p + 1 == context ? key[j] : cached(false, kv, p, j));
      }
      weights.push_back(score / std::sqrt(static_cast<double>(dim)));
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (std::uint32_t j = 0; j < dim; ++j) {
      double mixed = 0;
      for (std::uint32_t p = 0; p < context; ++p) {
        mixed += weights[p] / sum * (p + 1 == context ? value[j] : cached(true, kv, p, j));
      }
      for (std::uint32_t i = 0; i < m.width; ++i) {
        out[i] += mixed * at(Tensor::o, head * dim + j, i);
      }
    }
  }
  return out;
}

std::vector<double> DecodeValues::feed_forward(const std::vector<double>& x) const {
  const DecoderModel& m = shape_.model();
  const std::vector<double> z = normalised(x, Tensor::ffn_gain);
  std::vector<double> out = x;
  for (std::uint32_t j = 0; j < m.ffn; ++j) {
    double up = 0;
    double gate = 0;
    for (std::uint32_t i = 0; i < m.width; ++i) {
      up += z[i] * at(Tensor::up, i, j);
      gate += z[i] * at(Tensor::gate, i, j);
    }
    const double h = up * gate / (1 + std::exp(-gate));
    for (std::uint32_t i = 0; i < m.width; ++i) out[i] += h * at(Tensor::down, j, i);
  }
  return out;
}

std::vector<double> DecodeValues::reference() const {
  std::vector<double> x;
  for (std::uint32_t i = 0; i < shape_.model().width; ++i) x.push_back(at(Tensor::x, i, 0));
  if (shape_.block().attention) x = attention(x);
  if (shape_.block().ffn) x = feed_forward(x);
  return x;
}

std::vector<double> DecodeValues::found(const std::vector<std::vector<std::uint8_t>>& memory,
                                        std::uint32_t column, std::uint32_t sequence) const {
  const DecodeSpace space(shape_);
  std::vector<double> x;
  for (std::uint32_t i = 0; i < shape_.model().width; ++i) {
    const std::size_t place = std::size_t{i / shape_.d()} * shape_.block().columns + column;
    x.push_back(load_element(memory[place], space.x + 2 * (sequence * shape_.d() + i % shape_.d()),
                             false, false));
  }
  return x;
}

}  // namespace lacuna::wse

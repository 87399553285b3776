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

double DecodeValues::at(Tensor tensor, std::uint32_t input, std::uint32_t output,
                        std::uint32_t expert) const {
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
    case Tensor::router:
      outputs = m.experts.count;
      break;
    case Tensor::q_gain:
    case Tensor::k_gain:
      inputs = m.head_dim;
      break;
    case Tensor::x:
    case Tensor::gain:
    case Tensor::ffn_gain:
      break;
  }
  if (input >= inputs || output >= outputs || is_zero(tensor, input, output)) return 0;
  if (tensor == Tensor::x && !x_.empty()) return half(x_[input]);
  const double drawn =
      draw(static_cast<std::uint64_t>(tensor), input, output + (std::uint64_t{expert} << 20U));
  if (outputs == 1) return tensor == Tensor::x ? drawn : half(1 + drawn / 4);
  return half(drawn / std::sqrt(static_cast<double>(inputs)));
}

/// Whether a number is left out by the zeros of the layer. Inputs of a product are zero because
/// what makes them is: the gain of the norm before, the values of a head, one of two gated
/// products.
bool DecodeValues::is_zero(Tensor tensor, std::uint32_t input, std::uint32_t output) const {
  const DecodeZeros* zeros = shape_.block().zeros.get();
  if (zeros == nullptr) return false;
  const DecoderModel& m = shape_.model();
  const std::uint32_t q = m.heads * m.head_dim;
  const std::uint32_t kv = m.kv_heads * m.head_dim;
  const auto missing = [](const NonZeros& kept, std::uint32_t row, std::uint32_t column) {
    return kept.given() && !kept.at(row, column);
  };
  const auto& weights = zeros->weights;
  const auto& inputs = zeros->inputs;
  const auto of = [](const auto& all, Projection what) -> const NonZeros& {
    return all.at(static_cast<std::size_t>(what));
  };
  switch (tensor) {
    case Tensor::gain:
      return missing(of(inputs, Projection::qkv), input, 0);
    case Tensor::ffn_gain:
      return missing(of(inputs, Projection::up), input, 0);
    case Tensor::q:
      return missing(of(weights, Projection::qkv), output, input);
    case Tensor::k:
      return missing(of(weights, Projection::qkv), q + output, input);
    case Tensor::v: {
      // that of the first head of its group stands for all
      const std::uint32_t head = output / m.head_dim * shape_.group();
      return missing(of(weights, Projection::qkv), q + kv + output, input) ||
             missing(of(inputs, Projection::o), head * m.head_dim + output % m.head_dim, 0);
    }
    case Tensor::o:
      return missing(of(weights, Projection::o), output, input);
    case Tensor::up:
      return missing(of(weights, Projection::up), output, input) ||
             missing(of(inputs, Projection::down), output, 0);
    case Tensor::gate:
      return missing(of(weights, Projection::up), m.ffn + output, input);
    case Tensor::down:
      return missing(of(weights, Projection::down), output, input);
    case Tensor::x:
    case Tensor::q_gain:
    case Tensor::k_gain:
    case Tensor::router:
      break;
  }
  return false;
}

/// What a core has at a place of its tile.
double DecodeValues::weight(const TilePlace& place, std::uint32_t input, std::uint32_t output,
                            std::uint32_t expert) const {
  const std::uint32_t in = input_of(shape_, place, input);
  switch (place.matrix) {
    case Matrix::q:
      return at(Tensor::q, in, shape_.query_feature(place.column, output));
    case Matrix::k:
      return at(Tensor::k, in, shape_.key_feature(place.column, output));
    case Matrix::v:
      return at(Tensor::v, in, shape_.key_feature(place.column, output));
    case Matrix::o:
      return at(Tensor::o, in, shape_.hidden_feature(place.row, output));
    case Matrix::up: {
      const std::uint32_t f = shape_.f();
      const Tensor tensor = output < f ? Tensor::up : Tensor::gate;
      return at(tensor, in, shape_.inner_feature(place.column, output % f), expert);
    }
    case Matrix::down:
      return at(Tensor::down, in, shape_.hidden_feature(place.row, output), expert);
  }
  return 0;
}

double DecodeValues::cached(bool value, std::uint32_t head, std::uint32_t position,
                            std::uint32_t feature) const {
  const DecoderModel& m = shape_.model();
  if (feature >= m.head_dim || position + 1 >= shape_.block().context) return 0;
  const std::uint32_t at = head * m.head_dim + feature;
  if (history_ != nullptr) return (value ? history_->values : history_->keys).at(position).at(at);
  if (value && is_zero(Tensor::v, 0, at)) return 0;
  return draw(value ? 101 : 100, std::uint64_t{head} * 65536 + position, feature);
}

double DecodeValues::angle_at(std::uint32_t position, std::uint32_t pair) const {
  constexpr double kBase = 10000;
  const double share = 2.0 * pair / shape_.model().head_dim;
  return std::fmod(position, 1000.0) * std::pow(kBase, -share);
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
  const DecodeZeros* zeros = shape_.block().zeros.get();
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
        for (std::uint32_t e = 0; block.ffn && e < shape_.model().experts.count; ++e) {
          put(space.wrouter, i * shape_.model().experts.count + e, at(Tensor::router, in, e));
        }
        if (block.ffn) put(space.ffn_gain, i, at(Tensor::ffn_gain, in, 0));
        if (block.attention) put(space.gain, i, at(Tensor::gain, in, 0));
      }
      const auto put_matrix = [&](std::uint32_t address, Matrix matrix, std::uint32_t expert) {
        const TilePlace place{matrix, row, column};
        const std::uint32_t outputs = shape_.outputs(matrix);
        const auto what = static_cast<std::size_t>(projection_of(matrix));
        const TileFeatures tile = features_of(shape_, place);
        std::uint32_t next = 0;
        for (std::uint32_t i = 0; i < shape_.inputs(matrix); ++i) {
          std::vector<OutputRun> runs = {{0, outputs}};
          if (zeros != nullptr && zeros->sparse(matrix)) {
            runs = stored_runs(zeros->weights.at(what), tile, i,
                               zeros->sizes.at(static_cast<std::size_t>(matrix)).whole);
          }
          for (const OutputRun& run : runs) {
            for (std::uint32_t j = run.first; j < run.first + run.count; ++j) {
              put(address, next++, weight(place, i, j, expert));
            }
          }
        }
      };
      if (block.attention) {
        put_matrix(space.wq, Matrix::q, 0);
        put_matrix(space.wk, Matrix::k, 0);
        put_matrix(space.wv, Matrix::v, 0);
        put_matrix(space.wo, Matrix::o, 0);
      }
      const std::uint32_t experts = shape_.model().experts.count;
      const std::uint32_t here = experts == 0 ? 1 : shape_.experts_here();
      for (std::uint32_t e = 0; block.ffn && e < here; ++e) {
        const std::uint32_t expert = block.experts_apart ? column / shape_.expert_columns() : e;
        put_matrix(space.wup + static_cast<std::uint32_t>(e * space.up_bytes), Matrix::up, expert);
        put_matrix(space.wdown + static_cast<std::uint32_t>(e * space.down_bytes), Matrix::down,
                   expert);
      }
      for (std::uint32_t e = 0; block.ffn && e < experts; ++e) put_sum(space.numbers, e, e);
      for (std::uint32_t j = 0; block.attention && j < q; ++j) {
        const std::uint32_t feature = column % shape_.band() * k + j % k;
        if (shape_.model().qk_norm && j < k) {
          put_sum(space.q_gain, j, at(Tensor::q_gain, feature, 0));
          put_sum(space.k_gain, j, at(Tensor::k_gain, feature, 0));
        }
        if (j % 2 != 0) continue;
        put_sum(space.cos, j / 2, std::cos(angle(feature / 2)));
        put_sum(space.sin, j / 2, std::sin(angle(feature / 2)));
      }
      const std::vector<std::uint32_t> positions =
          block.attention ? shape_.positions(row) : std::vector<std::uint32_t>();
      for (std::uint32_t slot = 0; history_ == nullptr && slot < positions.size(); ++slot) {
        const std::uint32_t position = positions[slot];
        for (std::uint32_t i = 0; i < k; ++i) {
          const std::uint32_t head = column / shape_.band();
          const std::uint32_t feature = column % shape_.band() * k + i;
          for (std::uint32_t s = 0; s < block.batch; ++s) {
            put(space.k_cache, (s * k + i) * shape_.slots() + slot,
                cached(false, head, position, feature));
            put(space.v_cache, (s * shape_.slots() + slot) * k + i,
                cached(true, head, position, feature));
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
  std::vector<std::uint32_t> seen;
  for (std::uint32_t row = 0; row < shape_.block().rows; ++row) {
    const std::vector<std::uint32_t> here = shape_.positions(row);
    seen.insert(seen.end(), here.begin(), here.end());
  }
  std::vector<double> new_keys;
  std::vector<double> new_values;
  for (std::uint32_t head = 0; head < m.heads; ++head) {
    const std::uint32_t kv = head / shape_.group();
    const std::vector<double> q = rotated(project(Tensor::q, head), Tensor::q_gain);
    const std::vector<double> key = rotated(project(Tensor::k, kv), Tensor::k_gain);
    const std::vector<double> value = project(Tensor::v, kv);
    if (head % shape_.group() == 0) {
      new_keys.insert(new_keys.end(), key.begin(), key.end());
      new_values.insert(new_values.end(), value.begin(), value.end());
    }
    std::vector<double> weights;
    for (const std::uint32_t p : seen) {
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
      for (std::size_t n = 0; n < seen.size(); ++n) {
        const std::uint32_t p = seen[n];
        mixed += weights[n] / sum * (p + 1 == context ? value[j] : cached(true, kv, p, j));
      }
      for (std::uint32_t i = 0; i < m.width; ++i) {
        out[i] += mixed * at(Tensor::o, head * dim + j, i);
      }
    }
  }
  if (history_ != nullptr) {
    history_->keys.push_back(std::move(new_keys));
    history_->values.push_back(std::move(new_values));
  }
  return out;
}

/// The chosen experts and their shares, the best first.
std::vector<std::pair<std::uint32_t, double>> DecodeValues::routed(
    const std::vector<double>& z) const {
  const DecoderModel& m = shape_.model();
  std::vector<std::pair<std::uint32_t, double>> all;
  for (std::uint32_t e = 0; e < m.experts.count; ++e) {
    double logit = 0;
    for (std::uint32_t i = 0; i < m.width; ++i) logit += z[i] * at(Tensor::router, i, e);
    all.emplace_back(e, logit);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  all.resize(m.experts.chosen);
  const double most = all.front().second;
  double sum = 0;
  for (auto& [expert, share] : all) sum += share = std::exp(share - most);
  for (auto& [expert, share] : all) share /= sum;
  return all;
}

void DecodeValues::add_gated(const std::vector<double>& z, std::uint32_t expert, double share,
                             std::vector<double>& out) const {
  const DecoderModel& m = shape_.model();
  for (std::uint32_t j = 0; j < m.ffn; ++j) {
    double up = 0;
    double gate = 0;
    for (std::uint32_t i = 0; i < m.width; ++i) {
      up += z[i] * at(Tensor::up, i, j, expert);
      gate += z[i] * at(Tensor::gate, i, j, expert);
    }
    const double h = share * up * gate / (1 + std::exp(-gate));
    for (std::uint32_t i = 0; i < m.width; ++i) out[i] += h * at(Tensor::down, j, i, expert);
  }
}

std::vector<double> DecodeValues::feed_forward(const std::vector<double>& x) const {
  const std::vector<double> z = normalised(x, Tensor::ffn_gain);
  std::vector<double> out = x;
  if (shape_.model().experts.count == 0) {
    add_gated(z, 0, 1, out);
    return out;
  }
  for (const auto& [expert, share] : routed(z)) add_gated(z, expert, share, out);
  return out;
}

std::vector<std::uint32_t> DecodeValues::reference_routes() const {
  DecodeHistory history;
  DecodeValues copy = *this;
  if (history_ != nullptr) {
    history = *history_;
    copy.history_ = &history;
  }
  std::vector<double> x;
  for (std::uint32_t i = 0; i < shape_.model().width; ++i) x.push_back(at(Tensor::x, i, 0));
  if (shape_.block().attention) x = copy.attention(x);
  std::vector<std::uint32_t> routes;
  for (const auto& [expert, share] : routed(normalised(x, Tensor::ffn_gain))) {
    routes.push_back(expert);
  }
  return routes;
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

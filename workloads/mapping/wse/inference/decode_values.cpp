// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/common/fp16.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/mix.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

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

/// How large a tensor is and, of a matrix, where its outputs lie among those of the projection.
struct DecodeValues::Extent {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 1;
  Projection what = Projection::qkv;
  std::uint32_t first = 0;
};

DecodeValues::Extent DecodeValues::extent_of(Tensor tensor) const {
  const DecoderModel& m = shape_.model();
  const std::uint32_t q = m.heads * m.head_dim;
  const std::uint32_t kv = m.kv_heads * m.head_dim;
  switch (tensor) {
    case Tensor::q:
      return {m.width, q};
    case Tensor::k:
      return {m.width, kv, Projection::qkv, q};
    case Tensor::v:
      return {m.width, kv, Projection::qkv, q + kv};
    case Tensor::o:
      return {q, m.width, Projection::o};
    case Tensor::up:
      return {m.width, m.ffn, Projection::up};
    case Tensor::gate:
      return {m.width, m.ffn, Projection::up, m.ffn};
    case Tensor::down:
      return {m.ffn, m.width, Projection::down};
    case Tensor::router:
      return {m.width, m.experts.count};
    case Tensor::q_gain:
    case Tensor::k_gain:
      return {m.head_dim};
    case Tensor::x:
    case Tensor::gain:
    case Tensor::ffn_gain:
      break;
  }
  return {m.width};
}

double DecodeValues::at(Tensor tensor, std::uint32_t input, std::uint32_t output,
                        std::uint32_t expert) const {
  const auto [inputs, outputs, what, first] = extent_of(tensor);
  if (input >= inputs || output >= outputs || is_zero(tensor, input, output)) return 0;
  const double drawn =
      draw(static_cast<std::uint64_t>(tensor), input, output + (std::uint64_t{expert} << 20U));
  if (outputs == 1) return tensor == Tensor::x ? hidden(input, drawn) : half(1 + drawn / 4);
  return half(drawn / std::sqrt(static_cast<double>(inputs)));
}

/// Whether a number is left out by the zeros of the layer. Inputs of a product are zero because
/// what makes them is: the gain of the norm before, the values of a head, one of two gated
/// products.
bool DecodeValues::is_zero(Tensor tensor, std::uint32_t input, std::uint32_t output) const {
  const DecodeZeros* zeros = shape_.block().zeros.get();
  if (zeros == nullptr) return false;
  const std::uint32_t dim = shape_.model().head_dim;
  const auto missing = [](const NonZeros& kept, std::uint32_t row, std::uint32_t column) {
    return kept.given() && !kept.at(row, column);
  };
  const auto no_input = [&](Projection of, std::uint32_t feature) {
    return missing(zeros->inputs_of(matrix_of(of)), feature, 0);
  };
  if (tensor == Tensor::gain) return no_input(Projection::qkv, input);
  if (tensor == Tensor::ffn_gain) return no_input(Projection::up, input);
  if (tensor == Tensor::x || tensor > Tensor::down) return false;
  const Extent extent = extent_of(tensor);
  if (missing(zeros->weights_of(matrix_of(extent.what)), extent.first + output, input)) return true;
  // that of the first head of its group stands for all
  const std::uint32_t head = output / dim * shape_.group();
  return (tensor == Tensor::v && no_input(Projection::o, head * dim + output % dim)) ||
         (tensor == Tensor::up && no_input(Projection::down, output));
}

/// Of a matrix, by features of its projection.
double DecodeValues::weight(Matrix matrix, std::uint32_t input, std::uint32_t feature,
                            std::uint32_t expert) const {
  constexpr std::array<Tensor, kMatrices> kTensors = {Tensor::q, Tensor::k,  Tensor::v,
                                                      Tensor::o, Tensor::up, Tensor::down};
  Tensor tensor = kTensors.at(static_cast<std::size_t>(matrix));
  if (tensor == Tensor::up && feature >= shape_.model().ffn) tensor = Tensor::gate;
  return at(tensor, input, feature - extent_of(tensor).first, expert);
}

double DecodeValues::cached(bool value, std::uint32_t head, std::uint32_t position,
                            std::uint32_t feature) const {
  const DecoderModel& m = shape_.model();
  if (feature >= m.head_dim || position + 1 >= shape_.block().context) return 0;
  const std::uint32_t at = head * m.head_dim + feature;
  if (value && is_zero(Tensor::v, 0, at)) return 0;
  return draw(value ? 101 : 100, std::uint64_t{head} * 65536 + position, feature);
}

double DecodeValues::angle_at(std::uint32_t position, std::uint32_t pair) const {
  constexpr double kBase = 10000;
  const double share = 2.0 * pair / shape_.model().head_dim;
  return std::fmod(position, 1000.0) * std::pow(kBase, -share);
}

/// What a core has in its memory.
struct DecodeValues::CoreImage {
  CoreImage(const DecodeShape& shape, std::uint32_t its_row, std::uint32_t its_column)
      : row(its_row),
        column(its_column),
        space(shape),
        sum(shape.sum()),
        bytes(static_cast<std::uint32_t>(space.image_bytes)) {}

  void put(std::uint32_t address, std::uint32_t i, double value) {
    bytes.put(address + 2 * i, Element::fp16, static_cast<float>(value));
  }
  void put_sum(std::uint32_t address, std::uint32_t i, double value) {
    bytes.put(address + bytes_of(sum) * i, sum, static_cast<float>(value));
  }

  const std::uint32_t row;
  const std::uint32_t column;
  const DecodeSpace space;
  const Element sum;
  MemoryImage bytes;
};

/// The hidden vector, and what is multiplied by each of its features before the products.
void DecodeValues::put_vectors(CoreImage& image) const {
  const DecodeBlock& block = shape_.block();
  const DecodeSpace& space = image.space;
  const std::uint32_t d = shape_.d();
  const std::uint32_t experts = block.ffn ? shape_.model().experts.count : 0;
  // of a block that receives, the others have nothing yet
  const bool has_x = !block.receives || image.column == 0;
  for (std::uint32_t i = 0; i < d; ++i) {
    const std::uint32_t in = image.row * d + i;
    for (std::uint32_t s = 0; s < block.batch; ++s) {
      image.put(space.x, s * d + i, has_x ? at(Tensor::x, in, 0) : 0);
    }
    for (std::uint32_t e = 0; e < experts; ++e) {
      image.put(space.wrouter, i * experts + e, at(Tensor::router, in, e));
    }
    if (block.ffn) image.put(space.ffn_gain, i, at(Tensor::ffn_gain, in, 0));
    if (block.attention) image.put(space.gain, i, at(Tensor::gain, in, 0));
  }
}

void DecodeValues::put_matrix(CoreImage& image, std::uint32_t address, Matrix matrix,
                              std::uint32_t expert) const {
  const DecodeZeros* zeros = shape_.block().zeros.get();
  const TileFeatures tile = shape_.tile({matrix, image.row, image.column});
  const bool listed = zeros != nullptr && zeros->sparse(matrix);
  const std::vector<OutputRun> all = {{0, shape_.outputs(matrix)}};
  LeftOut left;
  if (listed) left.take(*zeros, matrix, tile);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < tile.inputs.size(); ++i) {
    for (const OutputRun& run : listed ? left.runs[i] : all) {
      for (std::uint32_t j = run.first; j < run.first + run.count; ++j) {
        image.put(address, next++, weight(matrix, tile.inputs[i], tile.outputs[j], expert));
      }
    }
  }
}

/// The tiles of all matrices, and the numbers of the experts.
void DecodeValues::put_weights(CoreImage& image) const {
  const DecodeBlock& block = shape_.block();
  const DecodeSpace& space = image.space;
  if (block.attention) {
    put_matrix(image, space.wq, Matrix::q, 0);
    put_matrix(image, space.wk, Matrix::k, 0);
    put_matrix(image, space.wv, Matrix::v, 0);
    put_matrix(image, space.wo, Matrix::o, 0);
  }
  if (!block.ffn) return;
  const std::uint32_t experts = shape_.model().experts.count;
  const bool apart = experts != 0 && block.experts_apart;
  const std::uint32_t here = experts == 0 ? 1 : shape_.experts_here();
  for (std::uint32_t e = 0; e < here; ++e) {
    const std::uint32_t expert = apart ? image.column / shape_.expert_columns() : e;
    const auto up = static_cast<std::uint32_t>(e * space.up_bytes);
    const auto down = static_cast<std::uint32_t>(e * space.down_bytes);
    put_matrix(image, space.wup + up, Matrix::up, expert);
    put_matrix(image, space.wdown + down, Matrix::down, expert);
  }
  for (std::uint32_t e = 0; e < experts; ++e) image.put_sum(space.numbers, e, e);
}

/// What queries and keys are rotated by, and the gains of their norms.
void DecodeValues::put_rotations(CoreImage& image) const {
  if (!shape_.block().attention) return;
  const DecodeSpace& space = image.space;
  const std::uint32_t k = shape_.k();
  for (std::uint32_t j = 0; j < shape_.q(); ++j) {
    const std::uint32_t feature = image.column % shape_.band() * k + j % k;
    if (shape_.model().qk_norm && j < k) {
      image.put_sum(space.q_gain, j, at(Tensor::q_gain, feature, 0));
      image.put_sum(space.k_gain, j, at(Tensor::k_gain, feature, 0));
    }
    if (j % 2 != 0) continue;
    image.put_sum(space.cos, j / 2, std::cos(angle(feature / 2)));
    image.put_sum(space.sin, j / 2, std::sin(angle(feature / 2)));
  }
}

/// Keys and values of the positions that the core's row has.
void DecodeValues::put_cache(CoreImage& image) const {
  if (!shape_.block().attention) return;
  const DecodeSpace& space = image.space;
  const std::uint32_t k = shape_.k();
  const std::uint32_t slots = shape_.slots();
  const std::uint32_t head = image.column / shape_.band();
  const std::vector<std::uint32_t> positions = shape_.positions(image.row);
  for (std::uint32_t slot = 0; slot < positions.size(); ++slot) {
    for (std::uint32_t i = 0; i < k; ++i) {
      const std::uint32_t feature = image.column % shape_.band() * k + i;
      const double key = cached(false, head, positions[slot], feature);
      const double value = cached(true, head, positions[slot], feature);
      for (std::uint32_t s = 0; s < shape_.block().batch; ++s) {
        image.put(space.k_cache, (s * k + i) * slots + slot, key);
        image.put(space.v_cache, (s * slots + slot) * k + i, value);
      }
    }
  }
}

void DecodeValues::fill(TaskProgram& program) const {
  program.memory.clear();
  for (std::uint32_t row = 0; row < shape_.block().rows; ++row) {
    for (std::uint32_t column = 0; column < shape_.block().columns; ++column) {
      CoreImage image(shape_, row, column);
      put_vectors(image);
      put_weights(image);
      put_rotations(image);
      put_cache(image);
      program.memory.push_back(std::move(image.bytes).take());
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

/// What a matrix makes of `z` for one head.
std::vector<double> DecodeValues::projected(const std::vector<double>& z, Tensor tensor,
                                            std::uint32_t head) const {
  const DecoderModel& m = shape_.model();
  std::vector<double> out(m.head_dim, 0);
  for (std::uint32_t i = 0; i < m.width; ++i) {
    for (std::uint32_t j = 0; j < m.head_dim; ++j) {
      out[j] += z[i] * at(tensor, i, head * m.head_dim + j);
    }
  }
  return out;
}

/// A query or a key at its position, normalised before if the model says so.
std::vector<double> DecodeValues::rotated(std::vector<double> v, Tensor gain) const {
  if (shape_.model().qk_norm) v = normalised(v, gain);
  for (std::uint32_t pair = 0; 2 * pair + 1 < shape_.model().head_dim; ++pair) {
    double& first = v[std::size_t{2} * pair];
    double& second = v[std::size_t{2} * pair + 1];
    const double a = first;
    const double b = second;
    first = a * std::cos(angle(pair)) - b * std::sin(angle(pair));
    second = a * std::sin(angle(pair)) + b * std::cos(angle(pair));
  }
  return v;
}

/// Those that the new position looks at, by row of cores.
std::vector<std::uint32_t> DecodeValues::positions_seen() const {
  std::vector<std::uint32_t> seen;
  for (std::uint32_t row = 0; row < shape_.block().rows; ++row) {
    const std::vector<std::uint32_t> here = shape_.positions(row);
    seen.insert(seen.end(), here.begin(), here.end());
  }
  return seen;
}

/// What the new position has in one head.
struct DecodeValues::NewPosition {
  std::vector<double> query;
  std::vector<double> key;
  std::vector<double> value;
};

/// Adds what a head makes of the positions it looks at.
void DecodeValues::add_head(std::uint32_t head, const NewPosition& now,
                            const std::vector<std::uint32_t>& seen,
                            std::vector<double>& out) const {
  const DecoderModel& m = shape_.model();
  const std::uint32_t dim = m.head_dim;
  const std::uint32_t context = shape_.block().context;
  const std::uint32_t kv = head / shape_.group();
  std::vector<double> weights;
  weights.reserve(seen.size());
  for (const std::uint32_t p : seen) {
    double score = 0;
    for (std::uint32_t j = 0; j < dim; ++j) {
      score += now.query[j] * (p + 1 == context ? now.key[j] : cached(false, kv, p, j));
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
      mixed += weights[n] / sum * (p + 1 == context ? now.value[j] : cached(true, kv, p, j));
    }
    for (std::uint32_t i = 0; i < m.width; ++i) {
      out[i] += mixed * at(Tensor::o, head * dim + j, i);
    }
  }
}

std::vector<double> DecodeValues::attention(const std::vector<double>& x) const {
  const std::vector<double> z = normalised(x, Tensor::gain);
  const std::vector<std::uint32_t> seen = positions_seen();
  std::vector<double> out = x;
  for (std::uint32_t head = 0; head < shape_.model().heads; ++head) {
    const std::uint32_t kv = head / shape_.group();
    const NewPosition now{rotated(projected(z, Tensor::q, head), Tensor::q_gain),
                          rotated(projected(z, Tensor::k, kv), Tensor::k_gain),
                          projected(z, Tensor::v, kv)};
    if (head % shape_.group() == 0) made(now.key, now.value);
    add_head(head, now, seen, out);
  }
  return out;
}

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

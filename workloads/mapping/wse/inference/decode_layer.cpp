// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/inference/decode_ends.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/plan_cores.hpp"

namespace lacuna::wse {
namespace {

// Axes have colors of their own here; that a core rewrites the routes of five in place of that is
// in its code.
constexpr unsigned kColorsY = 0;
constexpr unsigned kColorsX = 5;
constexpr unsigned kColorsBand = 10;
constexpr Color kReceive{15};
constexpr std::uint8_t kReceiveSlot = 5;

constexpr float kLowest = -65504;

}  // namespace

const char* word(DecodePhase phase) {
  constexpr std::array<const char*, 18> kWords = {
      "receive",          "norm",        "qkv",         "qknorm_rope", "score",  "softmax_max",
      "softmax_subtract", "softmax_exp", "softmax_sum", "pv",          "o_proj", "residual",
      "ffn_norm",         "router",      "up_gate",     "silu",        "down",   "ffn_residual"};
  return kWords.at(static_cast<std::size_t>(phase));
}

std::vector<DecodePhase> decode_phases(const DecodeBlock& block, bool experts) {
  std::vector<DecodePhase> phases;
  if (block.receives) phases.push_back(DecodePhase::receive);
  for (std::uint32_t repeat = 0; repeat < block.repeats; ++repeat) {
    for (unsigned i = 1; i <= static_cast<unsigned>(DecodePhase::ffn_residual); ++i) {
      const auto phase = static_cast<DecodePhase>(i);
      if (phase == DecodePhase::router && !experts) continue;
      if (phase >= DecodePhase::ffn_norm ? block.ffn : block.attention) phases.push_back(phase);
    }
  }
  return phases;
}

DecodeLayer::DecodeLayer(const DecodeShape& shape, const CodeCosts& costs,
                         const InferenceParams& params, const DecodeStyle& style)
    : shape_(shape),
      costs_(costs),
      params_(params),
      style_(style),
      space_(shape),
      sum_(shape.sum()),
      y_(shape.block().rows, LineSums::groups_of(params, shape.block().rows), kColorsY),
      x_(shape.block().columns, LineSums::groups_of(params, shape.block().columns), kColorsX),
      band_(shape.block().attention ? shape.band() : 1, 1, kColorsBand) {
  if (shape.model().experts.count != 0 && sum_ != Element::fp32) {
    throw UnsupportedError("experts with sums in halves");
  }
}

TaskProgram DecodeLayer::plan(const Datapath* pieces) const {
  const auto at = [&](std::uint32_t row, std::uint32_t column) -> Place {
    return {row, column, shape_.live(row), row == shape_.writer(), row == 0 && column == 0, pieces};
  };
  return plan_cores(
      {shape_.block().columns, shape_.block().rows}, {costs_, params_},
      [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
        if (row == 0 && column == 0) route(builder);
      },
      [&](std::uint32_t row, std::uint32_t column) { return role(at(row, column)); },
      [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
        write(code, at(row, column));
      });
}

void DecodeLayer::route(TaskBuilder& builder) const {
  const DecodeBlock& block = shape_.block();
  for (std::uint32_t column = 0; column < block.columns; ++column) {
    y_.route(
        builder, [&](std::uint32_t i) { return builder.place(i, column); }, Direction::rows);
  }
  for (std::uint32_t row = 0; row < block.rows; ++row) {
    x_.route(
        builder, [&](std::uint32_t i) { return builder.place(row, i); }, Direction::columns);
    for (std::uint32_t column = 0; block.receives && column < block.columns; ++column) {
      PortSet to = column == 0 ? PortSet{0} : bit(kRamp);
      if (column + 1 < block.columns) to = static_cast<PortSet>(to | bit(kEast));
      if (to == 0) continue;
      builder.route(builder.place(row, column), kReceive, column == 0 ? kRamp : kWest, to);
    }
    if (!block.attention || one_band()) continue;
    for (std::uint32_t first = 0; first < block.columns; first += shape_.band()) {
      band_.route(
          builder, [&](std::uint32_t i) { return builder.place(row, first + i); },
          Direction::columns);
    }
  }
}

std::string DecodeLayer::role(const Place& place) const {
  std::string text = fmt::format("{} {} {} {} {} {}", place.column == 0, y_.role(place.row),
                                 x_.role(place.column), place.live, place.writes, place.stamps);
  if (shape_.block().attention && !one_band()) text += band_.role(place.column % shape_.band());
  return text + role_of_zeros(place);
}

std::vector<CodeShares> DecodeLayer::shares(const Datapath& datapath) const {
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(costs_, params_, routines);
  code.count(datapath);
  write(code, {0, 0, shape_.live(0), shape_.writer() == 0, true, &datapath});
  return {code.shares().begin() + 1, code.shares().end()};
}

void DecodeLayer::write(CoreCode& code, const Place& place) const {
  mark(code, place);
  if (shape_.block().receives) receive(code, place);
  for (std::uint32_t repeat = 0; repeat < shape_.block().repeats; ++repeat) {
    if (shape_.block().attention) attention(code, place);
    if (shape_.block().ffn) feed_forward(code, place);
  }
}

void DecodeLayer::mark(CoreCode& code, const Place& place) {
  if (place.stamps) code.stamp();
}

void DecodeLayer::sum_y(CoreCode& code, const Place& place, const SummedVector& vector) const {
  y_.write(code, place.row, vector);
}

void DecodeLayer::sum_x(CoreCode& code, const Place& place, const SummedVector& vector) const {
  x_.write(code, place.column, vector);
}

void DecodeLayer::sum_band(CoreCode& code, const Place& place, const SummedVector& vector) const {
  if (one_band()) {
    sum_x(code, place, vector);
  } else {
    band_.write(code, place.column % shape_.band(), vector);
  }
}

/// The first core of a row has its part of the hidden vector from the block before, and hands it on
/// to all others.
void DecodeLayer::receive(CoreCode& code, const Place& place) const {
  if (shape_.block().columns == 1) {
    mark(code, place);
    return;
  }
  const HiddenPart part = hidden_part(shape_, place.row);
  write_part(code, part, kReceive, kReceiveSlot, place.column == 0, space_.list, space_.x);
  write_expansion(code, part, space_.x);
  mark(code, place);
}

/// The part of a layer before its products: z = x / rms(x) * gain.
void DecodeLayer::norm(CoreCode& code, const Place& place, std::uint32_t gain) const {
  const std::uint32_t d = shape_.d();
  const unsigned bytes = bytes_of(sum_);
  for (std::uint32_t s = 0; s < batch(); ++s) {
    write_square_sum(code, space_.stats + bytes * s, space_.x + 2 * d * s, d, Element::fp16, sum_);
  }
  sum_y(code, place, {space_.stats, batch(), sum_});
  for (std::uint32_t s = 0; s < batch(); ++s) {
    write_normalised(code,
                     {space_.x + 2 * d * s, space_.z + 2 * d * s, gain, space_.stats + bytes * s,
                      space_.stats16 + 2 * s, d, shape_.model().width},
                     sum_);
  }
}

void DecodeLayer::attention(CoreCode& code, const Place& place) const {
  norm(code, place, space_.gain);
  mark(code, place);
  project(code, place);
  mark(code, place);
  rotate(code, place);
  mark(code, place);
  score(code, place);
  mark(code, place);
  softmax(code, place);
  mark(code, place);
  values(code, place);
  mark(code, place);
  products_of(code, place, Matrix::o,
              {space_.wo, space_.context16, space_.out, shape_.q(), shape_.d()}, shape_.d());
  sum_x(code, place, {space_.out, batch() * shape_.d(), sum_});
  mark(code, place);
  residual(code);
  mark(code, place);
}

void DecodeLayer::project(CoreCode& code, const Place& place) const {
  const std::uint32_t d = shape_.d();
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const std::uint32_t all = q + 2 * k;
  const unsigned bytes = bytes_of(sum_);
  products_of(code, place, Matrix::q, {space_.wq, space_.z, space_.qkv, d, q}, all);
  products_of(code, place, Matrix::k, {space_.wk, space_.z, space_.qkv + bytes * q, d, k}, all);
  products_of(code, place, Matrix::v, {space_.wv, space_.z, space_.qkv + bytes * (q + k), d, k},
              all);
  sum_y(code, place, {space_.qkv, batch() * all, sum_});
  code.rewrite(one_band() ? x_.colors() : band_.colors());
}

/// Norms of the heads of q and k, rotation, and the new position's place in the cache.
void DecodeLayer::rotate(CoreCode& code, const Place& place) const {
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  const auto of = [&](std::uint32_t s) { return space_.qkv + bytes * s * (q + 2 * k); };
  if (shape_.model().qk_norm) {
    // the key's piece lies behind those of the queries
    const auto statistic = [&](std::uint32_t s, std::uint32_t h) {
      return space_.stats + bytes * (s * (heads + 1) + h);
    };
    for (std::uint32_t s = 0; s < batch(); ++s) {
      for (std::uint32_t h = 0; h <= heads; ++h) {
        write_square_sum(code, statistic(s, h), of(s) + bytes * h * k, k, sum_, sum_);
      }
    }
    sum_band(code, place, {space_.stats, batch() * (heads + 1), sum_});
    write_inverse_rms(code, space_.stats, batch() * (heads + 1), shape_.model().head_dim, sum_);
    for (std::uint32_t s = 0; s < batch(); ++s) {
      for (std::uint32_t h = 0; h <= heads; ++h) {
        const Operand piece = in_memory(of(s) + bytes * h * k);
        code.step(VectorOp::mul, sum_, piece, piece, cell(statistic(s, h)), k);
      }
      const Operand queries = in_memory(of(s));
      const Operand key = in_memory(of(s) + bytes * q);
      code.vector(VectorOp::mul, sum_, queries, queries, around(space_.q_gain, k), q);
      code.vector(VectorOp::mul, sum_, key, key, in_memory(space_.k_gain), k);
    }
  }
  for (std::uint32_t s = 0; s < batch(); ++s) {
    write_rotation(code, {of(s), space_.cos, space_.sin, space_.rotated, q / 2}, sum_);
    write_rotation(code, {of(s) + bytes * q, space_.cos, space_.sin, space_.rotated, k / 2}, sum_);
  }
  write_halves(code, space_.qkv16, space_.qkv, batch() * (q + 2 * k), sum_);
  code.test();
  if (!place.writes) return;
  const std::uint32_t slot = place.live - 1;
  for (std::uint32_t s = 0; s < batch(); ++s) {
    const std::uint32_t from = space_.qkv16 + 2 * s * (q + 2 * k);
    const std::uint32_t cache = 2 * s * k * shape_.slots();
    code.move(
        Element::fp16,
        in_memory(space_.k_cache + cache + 2 * slot, static_cast<std::int32_t>(shape_.slots())),
        in_memory(from + 2 * q), k);
    code.move(Element::fp16, in_memory(space_.v_cache + cache + 2 * slot * k),
              in_memory(from + 2 * (q + k)), k);
  }
}

void DecodeLayer::score(CoreCode& code, const Place& place) const {
  const std::uint32_t k = shape_.k();
  const std::uint32_t live = place.live;
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  for (std::uint32_t s = 0; s < batch(); ++s) {
    const std::uint32_t queries = space_.qkv16 + 2 * s * (shape_.q() + 2 * k);
    for (std::uint32_t feature = 0; feature < k; ++feature) {
      for (std::uint32_t h = 0; h < heads; ++h) {
        code.accumulate(feature == 0, products(sum_),
                        in_memory(space_.scores + bytes * (s * heads + h) * live),
                        in_memory(space_.k_cache + 2 * (s * k + feature) * shape_.slots()),
                        cell(queries + 2 * (h * k + feature)), live);
      }
    }
  }
  if (live != 0) sum_band(code, place, {space_.scores, batch() * heads * live, sum_});
  code.rewrite(y_.colors());
}

void DecodeLayer::softmax(CoreCode& code, const Place& place) const {
  const std::uint32_t heads = batch() * shape_.group();  // of all sequences
  const std::uint32_t live = place.live;
  const unsigned bytes = bytes_of(sum_);
  const auto head = [&](std::uint32_t address, std::uint32_t h) {
    return in_memory(address + bytes * h * live);
  };
  for (std::uint32_t h = 0; h < heads; ++h) {
    const std::uint32_t at = space_.stats + bytes * h;
    code.number_op(VectorOp::move, sum_, at, number(kLowest));
    code.step(VectorOp::max, sum_, in_memory(at, 0), head(space_.scores, h), in_memory(at, 0),
              live);
  }
  write_halves(code, space_.stats16, space_.stats, heads, sum_);
  sum_y(code, place, {space_.stats16, heads, Element::fp16, VectorOp::max});
  mark(code, place);
  if (sum_ == Element::fp32) {
    code.move(Element::fp16_32, in_memory(space_.stats), in_memory(space_.stats16), heads);
  }
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape_.model().head_dim));
  for (std::uint32_t h = 0; h < heads; ++h) {
    const Operand scores = head(space_.scores, h);
    code.step(VectorOp::sub, sum_, scores, scores, cell(space_.stats + bytes * h), live);
    code.vector(VectorOp::mul, sum_, scores, scores, number(scale), live);
  }
  mark(code, place);
  // of all heads at once, those of this core's positions first; what lies behind is not used
  write_exp(code, space_.work, space_.scores, heads * shape_.exponentials(), sum_);
  mark(code, place);
  for (std::uint32_t h = 0; h < heads; ++h) {
    const std::uint32_t at = space_.stats + bytes * h;
    code.number_op(VectorOp::move, sum_, at, number(0));
    code.step(VectorOp::add, sum_, in_memory(at, 0), head(space_.work, h), in_memory(at, 0), live);
  }
  sum_y(code, place, {space_.stats, heads, sum_});
  code.move(sum_ == Element::fp32 ? Element::fp32_16 : Element::fp16,
            in_memory(space_.probabilities), in_memory(space_.work), heads * live);
}

void DecodeLayer::values(CoreCode& code, const Place& place) const {
  const std::uint32_t k = shape_.k();
  const std::uint32_t group = shape_.group();
  const std::uint32_t heads = batch() * group;  // of all sequences
  const unsigned bytes = bytes_of(sum_);
  for (std::uint32_t s = 0; s < batch(); ++s) {
    for (std::uint32_t t = 0; t < place.live; ++t) {
      for (std::uint32_t h = s * group; h < (s + 1) * group; ++h) {
        code.accumulate(t == 0, products(sum_), in_memory(space_.context + bytes * h * k),
                        in_memory(space_.v_cache + 2 * (s * shape_.slots() + t) * k),
                        cell(space_.probabilities + 2 * (h * place.live + t)), k);
      }
    }
  }
  const std::uint32_t all = batch() * shape_.q();
  if (place.live == 0) {
    code.move(sum_, in_memory(space_.context), number(0), all);
  }
  sum_y(code, place, {space_.context, all, sum_});
  code.vector(VectorOp::divide, sum_, in_memory(space_.stats), number(1), in_memory(space_.stats),
              heads);
  for (std::uint32_t h = 0; h < heads; ++h) {
    const Operand piece = in_memory(space_.context + bytes * h * k);
    code.step(VectorOp::mul, sum_, piece, piece, cell(space_.stats + bytes * h), k);
  }
  write_halves(code, space_.context16, space_.context, all, sum_);
  code.rewrite(x_.colors());
}

void DecodeLayer::residual(CoreCode& code) const {
  const std::uint32_t all = batch() * shape_.d();
  write_halves(code, space_.out16, space_.out, all, sum_);
  const Operand x = in_memory(space_.x);
  code.vector(VectorOp::add, Element::fp16, x, x, in_memory(space_.out16), all);
  code.rewrite(y_.colors());
}

/// SiLU(gate) * up of what lies at number `number` of the inner vectors, times the number at
/// `share` if that is not 0; in halves.
void DecodeLayer::gated_unit(CoreCode& code, std::uint32_t number, std::uint32_t share) const {
  const std::uint32_t f = shape_.f();
  const unsigned bytes = bytes_of(sum_);
  const std::uint32_t inner = space_.inner + bytes * 2 * f * number;
  const GatedUnit unit{inner, inner + bytes * f, space_.silu, f};
  const std::uint32_t made =
      style_.scalar_silu ? write_scalar_silu(code, unit, sum_) : write_silu(code, unit, sum_);
  if (share != 0) {
    code.step(VectorOp::mul, sum_, in_memory(made), in_memory(made), cell(share), f);
  }
  write_halves(code, space_.inner16 + 2 * f * number, made, f, sum_);
}

void DecodeLayer::feed_forward(CoreCode& code, const Place& place) const {
  const std::uint32_t d = shape_.d();
  const std::uint32_t f = shape_.f();
  norm(code, place, space_.ffn_gain);
  mark(code, place);
  if (shape_.model().experts.count != 0) {
    choose_experts(code, place);
    mark(code, place);
    experts(code, place);
  } else {
    products_of(code, place, Matrix::up, {space_.wup, space_.z, space_.inner, d, 2 * f}, 2 * f);
    sum_y(code, place, {space_.inner, batch() * 2 * f, sum_});
    mark(code, place);
    for (std::uint32_t s = 0; s < batch(); ++s) gated_unit(code, s, 0);
    code.rewrite(x_.colors());
    mark(code, place);
    products_of(code, place, Matrix::down, {space_.wdown, space_.inner16, space_.out, f, d}, d);
  }
  sum_x(code, place, {space_.out, batch() * d, sum_});
  mark(code, place);
  residual(code);
  mark(code, place);
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/prefill_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {

const char* word(PrefillPart part) {
  constexpr std::array<const char*, 20> kWords = {
      "norm",     "qkv",     "qk_norm", "rope", "value_skew", "clear",       "score",
      "mask",     "softmax", "pv",      "fold", "context",    "o_proj",      "residual",
      "ffn_norm", "router",  "up_gate", "silu", "down",       "ffn_residual"};
  return kWords.at(static_cast<std::size_t>(part));
}

PrefillParts::PrefillParts(const PrefillShape& shape, const CodeCosts& costs,
                           const InferenceParams& params, const PrefillStyle& style,
                           std::uint32_t fold)
    : shape_(shape),
      costs_(costs),
      params_(params),
      style_(style),
      space_(shape),
      sum_(shape.sum()),
      fold_(fold),
      x_(shape.block().columns, Direction::columns),
      y_(shape.block().rows, Direction::rows),
      in_band_(shape.band(), Direction::rows) {
  if (shape.model().experts.count != 0 && sum_ != Element::fp32) {
    throw UnsupportedError("experts of a prompt with sums in half precision");
  }
  const bool any =
      shape.zeros_of(Projection::qkv) != nullptr || shape.zeros_of(Projection::up) != nullptr;
  if (any && !shape.block().fused) {
    throw UnsupportedError("zeros of a prompt whose products are done one by one");
  }
}

namespace {

/// The product that a part consists of.
Projection product_of_part(PrefillPart part) {
  if (part == PrefillPart::qkv) return Projection::qkv;
  if (part == PrefillPart::o_proj) return Projection::o;
  return part == PrefillPart::up_gate ? Projection::up : Projection::down;
}

TileProduct tile_product(const PrefillShape& shape, Projection what, std::uint32_t inputs,
                         std::uint32_t outputs) {
  TileProduct job;
  job.what = what;
  job.inputs = inputs / shape.tile_pieces();
  job.outputs = outputs;
  job.tokens = shape.t();
  job.steps = shape.steps();
  if (shape.zeros_of(what) != nullptr) {
    job.halves = static_cast<std::uint32_t>(shape.tile_halves(what));
  }
  return job;
}

}  // namespace

/// Those of a part that take the same activations go on where the one before has left these; of
/// experts' second products each has tiles of its own.
std::vector<TileProduct> PrefillParts::products_of(PrefillPart part) const {
  const std::uint32_t d = shape_.d();
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const std::uint32_t f = shape_.f();
  const bool fused = shape_.block().fused;
  std::vector<TileProduct> jobs;
  std::uint32_t weights = 0;
  const Projection what = product_of_part(part);
  const auto add = [&](std::uint32_t inputs, std::uint32_t outputs, std::uint32_t first) {
    TileProduct job = tile_product(shape_, what, inputs, outputs);
    job.weights = weights;
    job.first = first;
    job.made = static_cast<std::uint32_t>(jobs.size()) * (job.steps - 1);
    weights += 2 * job.stored() * shape_.weight_pieces();
    jobs.push_back(job);
  };
  if (part == PrefillPart::qkv) {
    weights = space_.wqkv;
    if (fused) {
      add(d, q + 2 * k, 0);
    } else {
      add(d, q, 0);
      add(d, k, q);
      add(d, k, q + k);
    }
  } else if (part == PrefillPart::o_proj) {
    weights = space_.wo;
    add(q, d, 0);
  } else if (part == PrefillPart::up_gate) {
    for (std::uint32_t e = 0; e < shape_.experts(); ++e) {
      weights = space_.wup + e * space_.up_bytes;
      add(d, fused ? 2 * f : f, 2 * f * e);
      if (!fused) add(d, f, 2 * f * e + f);
    }
  } else if (part == PrefillPart::down) {
    for (std::uint32_t e = 0; e < shape_.experts(); ++e) {
      weights = space_.wdown + e * space_.down_bytes;
      add(f, d, 0);
      jobs.back().tile = e * f;
      jobs.back().made = 0;
      jobs.back().adds = e > 0;
    }
  }
  return jobs;
}

/// The activations are brought into their order before the first product.
std::vector<TaskProgram> PrefillParts::plan_products(PrefillPart part) const {
  const std::vector<TileProduct> jobs = products_of(part);
  const std::uint32_t pieces = part == PrefillPart::down ? shape_.experts() : 1;
  const std::uint32_t rows = pieces * jobs[0].inputs * shape_.tile_pieces();
  std::vector<TaskProgram> programs;
  programs.push_back(plan_skew(rows * shape_.pitch(), shape_.block().rows - 1));
  for (const TileProduct& job : jobs) programs.push_back(plan_product(job));
  return programs;
}

std::vector<TaskProgram> PrefillParts::plan(PrefillPart part) const {
  if ((part == PrefillPart::qk_norm && !shape_.model().qk_norm) ||
      (part == PrefillPart::value_skew && shape_.band() == 1) ||
      (part == PrefillPart::router && shape_.model().experts.count == 0)) {
    return {};
  }
  if (part == PrefillPart::value_skew) return {plan_value_skew()};
  if (part == PrefillPart::score) return {plan_scores()};
  if (part == PrefillPart::pv) return {plan_values()};
  struct Written {
    PrefillPart part;
    Write write;
    LineSums (PrefillParts::*line)() const;  // along which it adds up; null: it needs no other core
  };
  static constexpr std::array<Written, 13> kWritten = {
      {{PrefillPart::norm, &PrefillParts::norm, &PrefillParts::column},
       {PrefillPart::ffn_norm, &PrefillParts::ffn_norm, &PrefillParts::column},
       {PrefillPart::qk_norm, &PrefillParts::head_norms, &PrefillParts::band},
       {PrefillPart::rope, &PrefillParts::rope, nullptr},
       {PrefillPart::clear, &PrefillParts::clear, nullptr},
       {PrefillPart::mask, &PrefillParts::mask, nullptr},
       {PrefillPart::softmax, &PrefillParts::softmax, &PrefillParts::band},
       {PrefillPart::fold, &PrefillParts::fold_in, nullptr},
       {PrefillPart::context, &PrefillParts::finish_context, nullptr},
       {PrefillPart::router, &PrefillParts::route_tokens, &PrefillParts::column},
       {PrefillPart::silu, &PrefillParts::silu, nullptr},
       {PrefillPart::residual, &PrefillParts::residual, nullptr},
       {PrefillPart::ffn_residual, &PrefillParts::residual, nullptr}}};
  for (const Written& each : kWritten) {
    if (each.part != part) continue;
    if (each.line == nullptr) return {written(nullptr, each.write)};
    const LineSums line = (this->*each.line)();
    return {written(&line, each.write)};
  }
  return plan_products(part);
}

/// The program of one core or, of a part that is summed along `line`, of one column of cores.
TaskProgram PrefillParts::written(const LineSums* line, Write write) const {
  return plan_cores(
      cores(1, line == nullptr ? 1 : line->cores()), makers(),
      [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
        if (line == nullptr || row % line->cores() != 0) return;
        line->route(
            builder, [&](std::uint32_t i) { return builder.place(row + i, column); },
            Direction::rows);
      },
      [&](std::uint32_t row, std::uint32_t column) { return kind(row, column); },
      [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
        (this->*write)(code, {row, column});
        if (line != nullptr) code.scalar(line->colors() * params_.route_write);
      });
}

LineSums PrefillParts::column() const {
  const std::uint32_t cores = shape_.block().rows;
  return {cores, LineSums::groups_of(params_, cores), 0};
}

/// Of a head over the whole column in two levels, else in one.
LineSums PrefillParts::band() const {
  return shape_.model().kv_heads == 1 ? column() : LineSums(shape_.band(), 1, 0);
}

void PrefillParts::write_norm(CoreCode& code, CorePlace at, std::uint32_t gain) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t all = shape_.d() * shape_.pitch();
  write_token_products(code, rows(), space_.stats, space_.x, space_.x, shape_.d(), Element::fp16,
                       sum_);
  column().write(code, at.row, {space_.stats, t, sum_});
  write_inverse_rms(code, space_.stats, t, shape_.model().width, sum_);
  write_halves(code, space_.stats16, space_.stats, t, sum_);
  const Operand z = in_memory(tile_of(at.column));
  code.vector(VectorOp::mul, Element::fp16, z, in_memory(space_.x), rows().each_feature(gain), all);
  code.vector(VectorOp::mul, Element::fp16, z, z, rows().each_token(space_.stats16), all);
}

void PrefillParts::norm(CoreCode& code, CorePlace at) const { write_norm(code, at, space_.gain); }

void PrefillParts::ffn_norm(CoreCode& code, CorePlace at) const {
  write_norm(code, at, space_.ffn_gain);
}

void PrefillParts::head_norms(CoreCode& code, CorePlace at) const {
  const LineSums line = band();
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t k = shape_.k();
  const std::uint32_t heads = shape_.group() + 1;  // the key's lies behind those of the queries
  const unsigned bytes = bytes_of(sum_);
  const auto piece = [&](std::uint32_t h) { return space_.out + bytes * h * k * pitch; };
  const auto statistic = [&](std::uint32_t h) { return space_.stats + bytes * h * pitch; };
  for (std::uint32_t h = 0; h < heads; ++h) {
    write_token_products(code, rows(), statistic(h), piece(h), piece(h), k, sum_, sum_);
  }
  line.write(code, at.row % line.cores(), {space_.stats, heads * pitch, sum_});
  write_inverse_rms(code, space_.stats, heads * pitch, shape_.model().head_dim, sum_);
  for (std::uint32_t h = 0; h < heads; ++h) {
    const Operand own = in_memory(piece(h));
    const std::uint32_t gain = h + 1 < heads ? space_.q_gain : space_.k_gain;
    code.vector(VectorOp::mul, sum_, own, own, rows().each_token(statistic(h)), k * pitch);
    code.vector(VectorOp::mul, sum_, own, own, rows().each_feature(gain), k * pitch);
  }
}

/// Queries and keys are rotated; keys go to the bank of their chunk, values to where they are
/// skewed, or to the bank too.
void PrefillParts::rope(CoreCode& code, CorePlace at) const {
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const unsigned bytes = bytes_of(sum_);
  const std::uint32_t key = space_.out + bytes * q * pitch;
  const std::uint32_t value = key + bytes * k * pitch;
  const std::uint32_t bank = scope_.chunk * space_.bank_bytes;
  write_rotation(code, {space_.out, space_.cos, space_.sin, space_.rotated, q / 2, pitch}, sum_);
  write_rotation(code, {key, space_.cos, space_.sin, space_.rotated, k / 2, pitch}, sum_);
  write_halves(code, space_.qkv16, space_.out, q * pitch, sum_);
  write_halves(code, space_.k_bank + bank, key, k * pitch, sum_);
  const std::uint32_t to =
      shape_.band() == 1 ? space_.v_bank + bank : space_.keys[value_skew_of(at.row) % 2];
  write_halves(code, to, value, k * pitch, sum_);
}

void PrefillParts::clear(CoreCode& code, CorePlace) const {
  const std::uint32_t numbers = shape_.group() * shape_.pitch();
  const auto fill = [&](std::uint32_t address, float value, std::uint32_t elements) {
    code.move(sum_, in_memory(address), number(value), elements);
  };
  fill(space_.maxima, kUnseen, numbers);
  fill(space_.sums, 0, numbers);
  fill(space_.folded, 0, shape_.q() * shape_.pitch());
}

/// The same for all heads.
void PrefillParts::mask(CoreCode& code, CorePlace) const {
  const Operand scores = in_memory(space_.scores);
  const std::uint32_t of_head = shape_.held() * shape_.t() * shape_.pitch();
  code.vector(VectorOp::add, sum_, scores, scores,
              of_head == 1 ? in_memory(space_.mask, 0) : around(space_.mask, of_head),
              shape_.group() * of_head);
}

/// Of so many rows of tokens. A scalar loop leaves padding out.
void PrefillParts::exponential(CoreCode& code, std::uint32_t to, std::uint32_t x,
                               std::uint32_t rows) const {
  const std::uint32_t pitch = shape_.pitch();
  if (!style_.scalar_functions) {
    write_exp(code, to, x, rows * pitch, sum_);
    return;
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t at = bytes_of(sum_) * row * pitch;
    write_scalar_exp(code, to + at, x + at, shape_.t(), sum_);
  }
}

/// Maximum, exponentials and their sum, of the scores of a chunk of keys.
void PrefillParts::softmax(CoreCode& code, CorePlace at) const {
  const LineSums line = band();
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t heads = shape_.group();
  const std::uint32_t of_head = shape_.held() * shape_.t() * pitch;
  const std::uint32_t numbers = heads * pitch;
  const unsigned bytes = bytes_of(sum_);
  const std::uint32_t maxima = space_.maxima + bytes * numbers;  // behind those so far
  const std::uint32_t sums = space_.sums + bytes * numbers;
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape_.model().head_dim));
  const std::uint32_t place = at.row % line.cores();
  const auto combine = [&](VectorOp op, std::uint32_t into, std::uint32_t from, float first) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      write_of_tokens(code, rows(), op, sum_, into + bytes * h * pitch, from + bytes * h * of_head,
                      shape_.held() * shape_.t(), first);
    }
  };
  combine(VectorOp::max, maxima, space_.scores, -65504);
  if (sum_ == Element::fp32) {
    write_halves(code, space_.stats16, maxima, numbers, sum_);
    line.write(code, place, {space_.stats16, numbers, Element::fp16, VectorOp::max});
    code.move(Element::fp16_32, in_memory(maxima), in_memory(space_.stats16), numbers);
  } else {
    line.write(code, place, {maxima, numbers, Element::fp16, VectorOp::max});
  }
  for (std::uint32_t h = 0; h < heads; ++h) {
    const Operand scores = in_memory(space_.scores + bytes * h * of_head);
    code.vector(VectorOp::sub, sum_, scores, scores, rows().each_token(maxima + bytes * h * pitch),
                of_head);
    code.vector(VectorOp::mul, sum_, scores, scores, number(scale), of_head);
  }
  exponential(code, space_.work, space_.scores, heads * shape_.held() * shape_.t());
  combine(VectorOp::add, sums, space_.work, 0);
  line.write(code, place, {sums, numbers, sum_});
  write_halves(code, space_.held[0], space_.work, heads * of_head, sum_);
}

/// Maximum, sum of weights and context of a chunk of keys into those of the chunks before it.
void PrefillParts::fold_in(CoreCode& code, CorePlace) const {
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t heads = shape_.group();
  const std::uint32_t numbers = heads * pitch;
  const std::uint32_t piece = shape_.k() * pitch;
  const unsigned bytes = bytes_of(sum_);
  const Operand maxima = in_memory(space_.maxima);
  const Operand both = in_memory(space_.both);
  const Operand sums = in_memory(space_.sums);
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape_.model().head_dim));
  code.vector(VectorOp::max, sum_, both, maxima, in_memory(space_.maxima + bytes * numbers),
              numbers);
  code.vector(VectorOp::sub, sum_, maxima, maxima, around(space_.both, numbers), 2 * numbers);
  code.vector(VectorOp::mul, sum_, maxima, maxima, number(scale), 2 * numbers);
  exponential(code, space_.scaled, space_.maxima, 2 * heads);
  code.vector(VectorOp::mul, sum_, sums, sums, in_memory(space_.scaled), 2 * numbers);
  code.vector(VectorOp::add, sum_, sums, sums, in_memory(space_.sums + bytes * numbers), numbers);
  for (std::uint32_t h = 0; h < heads; ++h) {
    const std::uint32_t at = bytes * h * piece;
    const std::uint32_t share = space_.scaled + bytes * h * pitch;
    const Operand folded = in_memory(space_.folded + at);
    code.vector(VectorOp::mul, sum_, folded, folded, rows().each_token(share), piece);
    code.vector(VectorOp::fma, sum_, folded, in_memory(space_.context + at),
                rows().each_token(share + bytes * numbers), piece);
  }
  code.move(sum_, maxima, both, numbers);
}

void PrefillParts::finish_context(CoreCode& code, CorePlace at) const {
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  code.vector(VectorOp::divide, sum_, in_memory(space_.stats), number(1), in_memory(space_.sums),
              heads * pitch);
  for (std::uint32_t h = 0; h < heads; ++h) {
    const Operand own = in_memory(space_.folded + bytes * h * shape_.k() * pitch);
    code.vector(VectorOp::mul, sum_, own, own, rows().each_token(space_.stats + bytes * h * pitch),
                shape_.k() * pitch);
  }
  write_halves(code, tile_of(at.column), space_.folded, shape_.q() * pitch, sum_);
}

void PrefillParts::residual(CoreCode& code, CorePlace) const {
  const std::uint32_t all = shape_.d() * shape_.pitch();
  write_halves(code, space_.z, space_.out, all, sum_);
  const Operand x = in_memory(space_.x);
  code.vector(VectorOp::add, Element::fp16, x, x, in_memory(space_.z), all);
}

/// Of each gated block, with its share if there are several.
void PrefillParts::silu(CoreCode& code, CorePlace at) const {
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t all = shape_.f() * pitch;
  const unsigned bytes = bytes_of(sum_);
  for (std::uint32_t e = 0; e < shape_.experts(); ++e) {
    const std::uint32_t up = space_.out + bytes * 2 * e * all;
    std::uint32_t made = space_.silu;
    if (style_.scalar_functions) {
      for (std::uint32_t i = 0; i < shape_.f(); ++i) {
        const std::uint32_t row = bytes * i * pitch;
        write_scalar_silu(code, {up + row, up + bytes * all + row, space_.silu + row, shape_.t()},
                          sum_);
      }
    } else {
      made = write_silu(code, {up, up + bytes * all, space_.silu, all}, sum_);
    }
    if (shape_.model().experts.count != 0) {
      code.vector(VectorOp::mul, sum_, in_memory(made), in_memory(made),
                  rows().each_token(space_.shares + bytes * e * pitch), all);
    }
    write_halves(code, tile_of(at.column) + 2 * e * all, made, all, sum_);
  }
}

/// Every core of a column has the logits of all experts for its tokens, and what each of them
/// counts: the softmax of the largest ones, 0 of others.
void PrefillParts::route_tokens(CoreCode& code, CorePlace at) const {
  const std::uint32_t experts = shape_.model().experts.count;
  const std::uint32_t pitch = shape_.pitch();
  const unsigned bytes = bytes_of(sum_);
  const std::uint32_t z = tile_of(at.column);
  if (shape_.t() == 1) {
    write_gemv(code, {space_.wrouter, z, space_.logits, shape_.d(), experts}, sum_);
  } else {
    code.move(sum_, in_memory(space_.logits), number(0), experts * pitch);
    for (std::uint32_t i = 0; i < shape_.d(); ++i) {
      for (std::uint32_t e = 0; e < experts; ++e) {
        code.stream(products(sum_), in_memory(space_.logits + bytes * e * pitch),
                    in_memory(z + 2 * i * pitch), cell(space_.wrouter + 2 * (i * experts + e)),
                    shape_.t());
      }
    }
  }
  column().write(code, at.row, {space_.logits, experts * pitch, sum_});
  choose(code);
}

/// One after the other, for all tokens at once: the largest logit, a vector that is 1 at its place
/// and 0 elsewhere, which adds its weight to the shares, and the logit out of the way.
void PrefillParts::choose(CoreCode& code) const {
  constexpr float kLeast = -65504;
  constexpr float kSharp = 1U << 20U;  // logits apart by less than its inverse are not told apart
  const std::uint32_t experts = shape_.model().experts.count;
  const std::uint32_t choices = shape_.model().experts.chosen;
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t all = experts * pitch;
  const unsigned bytes = bytes_of(sum_);
  const Operand logits = in_memory(space_.logits);
  const Operand mark = in_memory(space_.mark);
  const Operand shares = in_memory(space_.shares);
  const auto vector = [&](VectorOp op, const Operand& to, const Operand& a, const Operand& b,
                          std::uint32_t elements) { code.vector(op, sum_, to, a, b, elements); };
  vector(VectorOp::move, shares, number(0), Operand(), all);
  for (std::uint32_t j = 0; j < choices; ++j) {
    const std::uint32_t best = space_.best + bytes * j * pitch;
    const std::uint32_t weight = space_.weight + bytes * j * pitch;
    vector(VectorOp::move, in_memory(best), number(kLeast), Operand(), pitch);
    vector(VectorOp::max, rows().each_token(best), logits, rows().each_token(best), all);
    vector(VectorOp::sub, mark, logits, rows().each_token(best), all);
    vector(VectorOp::mul, mark, mark, number(kSharp), all);
    vector(VectorOp::add, mark, mark, number(1), all);
    vector(VectorOp::max, mark, mark, number(0), all);
    vector(VectorOp::sub, in_memory(space_.stats), in_memory(best), in_memory(space_.best), pitch);
    exponential(code, weight, space_.stats, 1);
    vector(VectorOp::fma, shares, mark, rows().each_token(weight), all);
    if (j + 1 < choices) vector(VectorOp::fma, logits, mark, number(kLeast), all);
  }
  const Operand sum = in_memory(space_.stats);
  vector(VectorOp::move, sum, in_memory(space_.weight), Operand(), pitch);
  for (std::uint32_t j = 1; j < choices; ++j) {
    vector(VectorOp::add, sum, sum, in_memory(space_.weight + bytes * j * pitch), pitch);
  }
  vector(VectorOp::divide, sum, number(1), sum, pitch);
  vector(VectorOp::mul, shares, shares, rows().each_token(space_.stats), all);
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/prefill_parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {
const char* word(PrefillPart part) {
  switch (part) {
    case PrefillPart::norm:
      return "norm";
    case PrefillPart::qkv:
      return "qkv";
    case PrefillPart::qk_norm:
      return "qk_norm";
    case PrefillPart::rope:
      return "rope";
    case PrefillPart::value_skew:
      return "value_skew";
    case PrefillPart::score:
      return "score";
    case PrefillPart::softmax:
      return "softmax";
    case PrefillPart::pv:
      return "pv";
    case PrefillPart::fold:
      return "fold";
    case PrefillPart::context:
      return "context";
    case PrefillPart::o_proj:
      return "o_proj";
    case PrefillPart::residual:
      return "residual";
    case PrefillPart::ffn_norm:
      return "ffn_norm";
    case PrefillPart::up_gate:
      return "up_gate";
    case PrefillPart::silu:
      return "silu";
    case PrefillPart::down:
      return "down";
    case PrefillPart::ffn_residual:
      return "ffn_residual";
  }
  return "?";
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
      fold_(std::min(fold, shape.block().side)) {}

std::vector<TileProduct> PrefillParts::products_of(PrefillPart part) const {
  const std::uint32_t d = shape_.d();
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const std::uint32_t f = shape_.f();
  const bool fused = shape_.block().fused;
  const auto product = [&](std::uint32_t inputs, std::uint32_t outputs) {
    return TileProduct{inputs, outputs, shape_.t(), shape_.block().side};
  };
  if (part == PrefillPart::qkv && fused) return {product(d, q + 2 * k)};
  if (part == PrefillPart::qkv) return {product(d, q), product(d, k), product(d, k)};
  if (part == PrefillPart::o_proj) return {product(q, d)};
  if (part == PrefillPart::up_gate && fused) return {product(d, 2 * f)};
  if (part == PrefillPart::up_gate) return {product(d, f), product(d, f)};
  if (part == PrefillPart::down) return {product(f, d)};
  return {};
}

std::vector<TaskProgram> PrefillParts::plan(PrefillPart part) const {
  std::vector<TaskProgram> programs;
  const std::vector<TileProduct> all = products_of(part);
  if (!all.empty()) {
    programs.push_back(plan_skew(all[0].inputs * shape_.pitch(), shape_.block().side - 1));
    for (const TileProduct& job : all) programs.push_back(plan_product(job));
    return programs;
  }
  switch (part) {
    case PrefillPart::norm:
    case PrefillPart::ffn_norm:
      programs.push_back(plan_norm());
      break;
    case PrefillPart::qk_norm:
      if (shape_.model().qk_norm) programs.push_back(plan_head_norms());
      break;
    case PrefillPart::rope:
      programs.push_back(alone(&PrefillParts::rope));
      break;
    case PrefillPart::value_skew:
      if (shape_.band() > 1) {
        programs.push_back(plan_skew(shape_.k() * shape_.pitch(), shape_.band() - 1));
      }
      break;
    case PrefillPart::score:
      programs.push_back(plan_scores());
      break;
    case PrefillPart::softmax:
      programs.push_back(plan_softmax());
      break;
    case PrefillPart::pv:
      programs.push_back(plan_values());
      break;
    case PrefillPart::fold:
      programs.push_back(alone(&PrefillParts::fold_in));
      break;
    case PrefillPart::context:
      programs.push_back(alone(&PrefillParts::finish_context));
      break;
    case PrefillPart::silu:
      programs.push_back(alone(&PrefillParts::silu));
      break;
    default:
      programs.push_back(alone(&PrefillParts::residual));
  }
  return programs;
}

TaskProgram PrefillParts::alone(Code write) const {
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(costs_, params_, routines);
  (this->*write)(code);
  builder.core(0, builder.add(std::move(code).finish()));
  return std::move(builder).finish();
}

LineSums PrefillParts::column() const {
  const std::uint32_t cores = shape_.block().side;
  return {cores, LineSums::groups_of(params_, cores), 0};
}

/// Of a head over the whole column in two levels, else in one.
LineSums PrefillParts::band() const {
  return shape_.model().kv_heads == 1 ? column() : LineSums(shape_.band(), 1, 0);
}

/// A number for each token, again and again.
Operand PrefillParts::each_token(std::uint32_t address) const {
  return shape_.t() == 1 ? in_memory(address, 0) : around(address, shape_.t());
}

/// One for each feature, the same for all tokens.
Operand PrefillParts::each_feature(std::uint32_t address) const {
  return shape_.t() == 1 ? in_memory(address) : each_for(address, shape_.t());
}

namespace {

template <typename Write>
TaskProgram along(const LineSums& line, const CodeCosts& costs, const InferenceParams& params,
                  const Write& write) {
  TaskBuilder builder(1, line.cores());
  line.route(
      builder, [](std::uint32_t i) { return std::size_t{i}; }, kNorth, kSouth);
  SharedRoutines routines(builder);
  for (std::uint32_t row = 0; row < line.cores(); ++row) {
    CoreCode code(costs, params, routines);
    write(code, row);
    code.scalar(line.colors() * params.route_write);
    builder.core(row, builder.add(std::move(code).finish()));
  }
  return std::move(builder).finish();
}

}  // namespace

/// A sum of squares for each token over `features` of them.
void PrefillParts::square_sums(CoreCode& code, std::uint32_t to, std::uint32_t numbers,
                               std::uint32_t features, Element from) const {
  const std::uint32_t t = shape_.t();
  if (t == 1) {
    write_square_sum(code, to, numbers, features, from, sum_);
    return;
  }
  const Element element = from == sum_ ? sum_ : products(sum_);
  const unsigned bytes = from == Element::fp32 ? 4 : 2;
  code.vector(VectorOp::move, sum_, in_memory(to), number(0), Operand(), t);
  for (std::uint32_t i = 0; i < features; ++i) {
    const Operand row = in_memory(numbers + bytes * i * t);
    code.vector(VectorOp::fma, element, in_memory(to), row, row, t);
  }
}

TaskProgram PrefillParts::plan_norm() const {
  const LineSums line = column();
  const std::uint32_t t = shape_.t();
  const std::uint32_t all = shape_.d() * t;
  return along(line, costs_, params_, [&](CoreCode& code, std::uint32_t row) {
    square_sums(code, space_.stats, space_.x, shape_.d(), Element::fp16);
    line.write(code, row, {space_.stats, t, sum_});
    write_inverse_rms(code, space_.stats, t, shape_.model().width, sum_);
    write_halves(code, space_.stats16, space_.stats, t, sum_);
    const Operand z = in_memory(space_.z);
    code.vector(VectorOp::mul, Element::fp16, z, in_memory(space_.x), each_feature(space_.gain),
                all);
    code.vector(VectorOp::mul, Element::fp16, z, z, each_token(space_.stats16), all);
  });
}

TaskProgram PrefillParts::plan_head_norms() const {
  const LineSums line = band();
  const std::uint32_t t = shape_.t();
  const std::uint32_t k = shape_.k();
  const std::uint32_t heads = shape_.group() + 1;  // the key's lies behind those of the queries
  const unsigned bytes = bytes_of(sum_);
  return along(line, costs_, params_, [&](CoreCode& code, std::uint32_t row) {
    const auto piece = [&](std::uint32_t h) { return space_.out + bytes * h * k * t; };
    const auto statistic = [&](std::uint32_t h) { return space_.stats + bytes * h * t; };
    for (std::uint32_t h = 0; h < heads; ++h) square_sums(code, statistic(h), piece(h), k, sum_);
    line.write(code, row, {space_.stats, heads * t, sum_});
    write_inverse_rms(code, space_.stats, heads * t, shape_.model().head_dim, sum_);
    for (std::uint32_t h = 0; h < heads; ++h) {
      const Operand own = in_memory(piece(h));
      code.vector(VectorOp::mul, sum_, own, own, each_token(statistic(h)), k * t);
      code.vector(VectorOp::mul, sum_, own, own, each_feature(space_.head_gain), k * t);
    }
  });
}

void PrefillParts::rope(CoreCode& code) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const std::uint32_t key = space_.out + bytes_of(sum_) * q * t;
  write_rotation(code, {space_.out, space_.cos, space_.sin, space_.rotated, q / 2, t}, sum_);
  write_rotation(code, {key, space_.cos, space_.sin, space_.rotated, k / 2, t}, sum_);
  write_halves(code, space_.qkv16, space_.out, (q + 2 * k) * t, sum_);
  // to the bank of the layer and chunk
  for (std::uint32_t i = 0; i < 2; ++i) {
    code.vector(VectorOp::move, Element::fp16, in_memory(space_.keys[i]),
                in_memory(space_.qkv16 + 2 * (q + i * k) * t), Operand(), k * t);
  }
}

TaskProgram PrefillParts::plan_softmax() const {
  const LineSums line = band();
  const std::uint32_t t = shape_.t();
  const std::uint32_t heads = shape_.group();
  const std::uint32_t of_head = shape_.held() * t * shape_.pitch();
  const unsigned bytes = bytes_of(sum_);
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape_.model().head_dim));
  return along(line, costs_, params_, [&](CoreCode& code, std::uint32_t row) {
    const auto statistic = [&](std::uint32_t h) { return space_.stats + bytes * h * t; };
    const auto combine = [&](VectorOp op, std::uint32_t numbers, float first) {
      for (std::uint32_t h = 0; h < heads; ++h) {
        code.vector(VectorOp::move, sum_, in_memory(statistic(h)), number(first), Operand(), t);
        const Operand to = each_token(statistic(h));
        code.vector(op, sum_, to, in_memory(numbers + bytes * h * of_head), to, of_head);
      }
    };
    combine(VectorOp::max, space_.scores, -65504);
    write_halves(code, space_.stats16, space_.stats, heads * t, sum_);
    line.write(code, row, {space_.stats16, heads * t, Element::fp16, VectorOp::max});
    if (sum_ == Element::fp32) {
      code.vector(VectorOp::move, Element::fp16_32, in_memory(space_.stats),
                  in_memory(space_.stats16), Operand(), heads * t);
    }
    for (std::uint32_t h = 0; h < heads; ++h) {
      const Operand scores = in_memory(space_.scores + bytes * h * of_head);
      code.vector(VectorOp::sub, sum_, scores, scores, each_token(statistic(h)), of_head);
      code.vector(VectorOp::mul, sum_, scores, scores, number(scale), of_head);
    }
    if (style_.scalar_functions) {
      write_scalar_exp(code, space_.work, space_.scores, heads * of_head, sum_);
    } else {
      write_exp(code, space_.work, space_.scores, heads * of_head, sum_);
    }
    combine(VectorOp::add, space_.work, 0);
    line.write(code, row, {space_.stats, heads * t, sum_});
    write_halves(code, space_.held[0], space_.work, heads * of_head, sum_);
  });
}

/// Maximum, sum of weights and context of a chunk of keys into those of the chunks before it.
void PrefillParts::fold_in(CoreCode& code) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t heads = shape_.group();
  const std::uint32_t numbers = heads * t;
  const std::uint32_t piece = shape_.k() * t;
  const unsigned bytes = bytes_of(sum_);
  const std::uint32_t now = space_.stats;
  const std::uint32_t before = now + bytes * (heads + 1) * t;
  const std::uint32_t both = before + bytes * (heads + 1) * t;
  const auto vector = [&](VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
    code.vector(op, sum_, in_memory(to), in_memory(a), in_memory(b), numbers);
  };
  vector(VectorOp::max, both, before, now);
  vector(VectorOp::sub, before, before, both);
  vector(VectorOp::sub, now, now, both);
  for (const std::uint32_t at : {before, now}) {
    if (style_.scalar_functions) {
      write_scalar_exp(code, space_.work, at, numbers, sum_);
    } else {
      write_exp(code, space_.work, at, numbers, sum_);
    }
  }
  // sums of weights
  vector(VectorOp::mul, before, before, space_.work);
  vector(VectorOp::mul, now, now, space_.work);
  vector(VectorOp::add, before, before, now);
  for (const std::uint32_t context : {space_.folded, space_.context}) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      const Operand own = in_memory(context + bytes * h * piece);
      code.vector(VectorOp::mul, sum_, own, own, each_token(space_.work + bytes * h * t), piece);
    }
  }
  const Operand folded = in_memory(space_.folded);
  code.vector(VectorOp::add, sum_, folded, folded, in_memory(space_.context), shape_.q() * t);
}

void PrefillParts::finish_context(CoreCode& code) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  const Operand scores = in_memory(space_.scores);
  code.vector(VectorOp::add, sum_, scores, scores, each_token(space_.mask),
              heads * shape_.held() * t * t);
  code.vector(VectorOp::divide, sum_, in_memory(space_.stats), number(1), in_memory(space_.stats),
              heads * t);
  for (std::uint32_t h = 0; h < heads; ++h) {
    const Operand own = in_memory(space_.folded + bytes * h * shape_.k() * t);
    code.vector(VectorOp::mul, sum_, own, own, each_token(space_.stats + bytes * h * t),
                shape_.k() * t);
  }
  write_halves(code, space_.tile[0], space_.folded, shape_.q() * t, sum_);
}

void PrefillParts::residual(CoreCode& code) const {
  const std::uint32_t all = shape_.d() * shape_.t();
  write_halves(code, space_.z, space_.out, all, sum_);
  const Operand x = in_memory(space_.x);
  code.vector(VectorOp::add, Element::fp16, x, x, in_memory(space_.z), all);
}

void PrefillParts::silu(CoreCode& code) const {
  const std::uint32_t all = shape_.f() * shape_.t();
  const GatedUnit unit{space_.out, space_.out + bytes_of(sum_) * all, space_.silu, all};
  const std::uint32_t made =
      style_.scalar_functions ? write_scalar_silu(code, unit, sum_) : write_silu(code, unit, sum_);
  write_halves(code, space_.tile[0], made, all, sum_);
}

}  // namespace lacuna::wse

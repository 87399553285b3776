// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"

namespace lacuna::wse {
namespace {

Operand array() { return in_memory(0); }

void take(CoreCode& code, Color color, std::uint32_t elements) {
  code.take(color, static_cast<std::uint8_t>(static_cast<unsigned>(color) % 8));
  code.move(Element::fp16, array(), on_fabric(color), elements);
}

void send(CoreCode& code, Color color, std::uint32_t elements) {
  code.send(color, static_cast<std::uint8_t>(static_cast<unsigned>(color) % 8));
  code.move(Element::fp16, on_fabric(color), array(), elements);
}

/// The largest of `logits` numbers in no order, kept in a list: each is compared with its least; so
/// many are expected to go in, past half of the list.
std::uint32_t select_cycles(std::uint32_t logits, std::uint32_t list, const ScalarParams& s,
                            const InferenceParams& params) {
  const double scan = static_cast<double>(logits) * params.select_logit;
  const double kept = std::min<double>(logits, list);
  const double inserted = kept * (1 + std::log(std::max(1.0, logits / kept)));
  const double moved = inserted * list / 2 * (s.loop + 2 * s.load + s.dependent + s.branch_not);
  return static_cast<std::uint32_t>(scan + moved);
}

}  // namespace

HiddenPart hidden_part(const DecodeShape& shape, std::uint32_t row) {
  HiddenPart part;
  part.elements = shape.block().batch * shape.d();
  const DecodeZeros* zeros = shape.block().zeros.get();
  part.counted = zeros != nullptr && zeros->compact && zeros->hidden.given();
  for (std::uint32_t s = 0; part.counted && s < shape.block().batch; ++s) {
    for (std::uint32_t i = 0; i < shape.d(); ++i) {
      part.nonzeros += zeros->hidden.at(shape.hidden_feature(row, i), s) ? 1 : 0;
    }
  }
  return part;
}

HiddenPart fullest_part(const DecodeShape& shape) {
  HiddenPart most = hidden_part(shape, 0);
  for (std::uint32_t row = 1; row < shape.block().rows; ++row) {
    most.nonzeros = std::max(most.nonzeros, hidden_part(shape, row).nonzeros);
  }
  return most;
}

void write_compaction(CoreCode& code, const HiddenPart& part) {
  if (!part.counted) return;
  const ScalarParams& s = code.costs().scalar;
  // the index goes beside the value, and the word into the list
  constexpr std::uint32_t kPut = 2;
  const std::uint32_t zeros = part.elements - part.nonzeros;
  code.scalar(part.elements * (s.loop + s.load + s.dependent) + zeros * s.branch_taken +
              part.nonzeros * (s.branch_not + kPut));
}

void write_expansion(CoreCode& code, const HiddenPart& part, std::uint32_t to) {
  if (!part.listed()) return;
  const ScalarParams& s = code.costs().scalar;
  code.move(Element::fp16, in_memory(to), number(0), part.elements);
  // the address of the index, and the store
  constexpr std::uint32_t kPut = 2;
  code.scalar(part.nonzeros * (s.loop + s.load + kPut));
}

void write_part(CoreCode& code, const HiddenPart& part, Color color, std::uint8_t slot, bool sends,
                std::uint32_t list, std::uint32_t x) {
  if (sends) {
    code.send(color, slot);
  } else {
    code.take(color, slot);
  }
  const auto move = [&](Element element, std::uint32_t at, std::uint32_t length) {
    const Operand there = on_fabric(color);
    const Operand here = in_memory(at);
    code.move(element, sends ? there : here, sends ? here : there, length);
  };
  if (part.counted) {
    move(Element::int32, list, 1);
    code.test();
  }
  if (part.listed()) {
    move(Element::int32, list + 4, part.nonzeros);
  } else {
    move(Element::fp16, x, part.elements);
  }
}

TaskProgram plan_hand_over(const HiddenPart& part, const CodeCosts& costs,
                           const InferenceParams& params) {
  return plan_pipe(2, part, costs, params);
}

TaskProgram plan_pipe(std::uint32_t cores, const HiddenPart& part, const CodeCosts& costs,
                      const InferenceParams& params) {
  TaskBuilder builder(cores, 1);
  SharedRoutines routines(builder);
  for (std::uint32_t i = 0; i + 1 < cores; ++i) {
    builder.path({i, i + std::size_t{1}}, static_cast<Color>(i % 2));
  }
  for (std::uint32_t i = 0; i < cores; ++i) {
    CoreCode code(costs, params, routines);
    const bool last = i + 1 == cores;
    code.test();
    const auto pass = [&](Color color, bool sends) {
      const auto slot = static_cast<std::uint8_t>(color);
      write_part(code, part, color, slot, sends, 0, 0);
    };
    if (!last) write_compaction(code, part);
    if (!last) pass(static_cast<Color>(i % 2), true);
    for (std::uint32_t j = 0; j < i; ++j) {
      pass(static_cast<Color>((i + 1) % 2), false);
      if (!last) pass(static_cast<Color>(i % 2), true);
    }
    builder.core(i, std::move(code).finish());
  }
  return std::move(builder).finish();
}

TaskProgram plan_head(std::uint32_t columns, std::uint32_t rows, std::uint32_t elements,
                      const CodeCosts& costs, const InferenceParams& params) {
  TaskBuilder builder(columns, rows);
  SharedRoutines routines(builder);
  const Color down{0};
  const Color east{1};
  std::vector<std::size_t> column;
  std::vector<std::size_t> row;
  for (std::uint32_t r = 0; r < rows; ++r) column.push_back(builder.place(r, 0));
  for (std::uint32_t c = 0; c < columns; ++c) row.push_back(builder.place(rows - 1, c));
  builder.path(column, down);
  builder.path(row, east);
  CoreCode holder(costs, params, routines);
  // which core has the row, and where it begins
  holder.scalar(costs.scalar.imul);
  holder.test();
  send(holder, down, elements);
  builder.core(column.front(), std::move(holder).finish());
  CoreCode corner(costs, params, routines);
  take(corner, down, elements);
  send(corner, east, elements);
  builder.core(column.back(), std::move(corner).finish());
  CoreCode last(costs, params, routines);
  take(last, east, elements);
  builder.core(row.back(), std::move(last).finish());
  return std::move(builder).finish();
}

namespace {

struct TailSpace {
  explicit TailSpace(const DecodeTail& tail) {
    CoreSpace space;
    w = space.take(std::uint64_t{tail.d()} * tail.logits(), 2);
    gain = space.take(tail.d(), 2);
    x = space.take(tail.d(), 2);
    z = space.take(tail.d(), 2);
    stats = space.take(1, 4);
    stats16 = space.take(1, 2);
    list = space.take(2 * std::uint64_t{tail.top_k}, 4);
    logits = space.take(tail.logits(), 4, Half8::upper);
    bytes = space.bytes();
  }

  std::uint32_t w, gain, x, z, stats, stats16, list, logits;
  std::uint64_t bytes;
};

}  // namespace

std::uint64_t DecodeTail::bytes() const { return TailSpace(*this).bytes; }

TaskProgram plan_tail_column(const DecodeTail& tail, const CodeCosts& costs,
                             const InferenceParams& params) {
  const TailSpace space(tail);
  const LineSums y(tail.rows, LineSums::groups_of(params, tail.rows), 0);
  return plan_line(y, Direction::rows, costs, params, [&](CoreCode& code, std::uint32_t row) {
    write_square_sum(code, space.stats, space.x, tail.d(), Element::fp16, Element::fp32);
    y.write(code, row, {space.stats, 1, Element::fp32});
    write_normalised(
        code, {space.x, space.z, space.gain, space.stats, space.stats16, tail.d(), tail.width},
        Element::fp32);
    write_gemv(code, {space.w, space.z, space.logits, tail.d(), tail.logits()}, Element::fp32);
    SummedVector sums{space.logits, tail.logits(), Element::fp32};
    sums.to_all = false;
    y.write(code, row, sums);
    if (row == y.root()) code.scalar(y.colors() * params.route_write);
  });
}

TaskProgram plan_tail_row(const DecodeTail& tail, const CodeCosts& costs,
                          const InferenceParams& params) {
  const TailSpace space(tail);
  const ScalarParams& s = costs.scalar;
  const LineSums x(tail.columns, LineSums::groups_of(params, tail.columns), 0);
  return plan_line(x, Direction::columns, costs, params, [&](CoreCode& code, std::uint32_t column) {
    code.scalar(select_cycles(tail.logits(), tail.top_k, s, params));
    SummedVector lists{space.list, 2 * tail.top_k, Element::fp32};
    lists.to_all = false;
    lists.merge_cycles = tail.top_k * (s.loop + 2 * s.load + s.dependent + s.branch_taken);
    x.write(code, column, lists);
    if (column != x.root()) return;
    // their exponentials, the sum of these, and the first that a drawn share of it reaches
    code.vector(VectorOp::exp, Element::fp32, in_memory(space.list), in_memory(space.list),
                Operand(), tail.top_k);
    code.scalar(2 * tail.top_k * (s.loop + s.load + s.dependent));
  });
}

}  // namespace lacuna::wse

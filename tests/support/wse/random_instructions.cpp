// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/random_instructions.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/common/fp16.hpp"
#include "tests/support/wse/oracle/datapath.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

constexpr std::uint32_t kRegion = 1024;  // bytes, of halves and of single precision each

unsigned fabric_words(const Instruction& what, const TaskParams& params) {
  return what.simd64 && params.core.fabric_simd64 ? 2U : params.core.fabric_words_per_issue.value();
}

std::uint32_t words(const Instruction& what, const TaskParams& params, bool half) {
  std::uint32_t sum = 0;
  for (std::uint32_t done = 0; done < what.length;) {
    const std::uint32_t beat =
        oracle::beat_elements(what, params, fabric_words(what, params), done);
    sum += oracle::words_for(half, beat);
    done += beat;
  }
  return sum;
}

/// A small integer in each half of a word.
std::uint32_t random_integer(Draw& draw) {
  const std::uint32_t high = draw.pick(0, 7);
  return high << 16U | draw.pick(0, 7);
}

/// A tensor of `length` elements inside its region, of any stride and shape.
Operand memory_operand(Draw& draw, bool half, std::uint32_t length) {
  const std::uint32_t bytes = half ? 2 : 4;
  const std::uint32_t base = half ? 0 : kRegion;
  for (;;) {
    Operand operand = in_memory(base + bytes * draw.pick(0, 24));
    if (draw.chance(40)) operand.stride = static_cast<std::int32_t>(draw.pick(0, 12)) - 2;
    if (draw.chance(20)) {
      operand.inner = draw.pick(1, length);
      operand.outer = static_cast<std::int32_t>(draw.pick(0, 9));
    }
    if (operand.stride < 0) operand.address += bytes * 2 * length;
    bool inside = true;
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t at = oracle::address(operand, half, i, 0);
      inside = inside && at >= base && at + bytes <= base + kRegion;
    }
    if (inside) return operand;
    length = std::max(length, 1U);
  }
}

Operand source(Draw& draw, bool half, std::uint32_t length) {
  const std::uint32_t way = draw.pick(0, 9);
  if (way < 7) return memory_operand(draw, half, length);
  if (way < 9) return number(0.25F * static_cast<float>(draw.pick(0, 8)) - 1);
  return cell((half ? 0 : kRegion) + (half ? 2 : 4) * draw.pick(0, 20));
}

Element random_element(Draw& draw) {
  return draw.of(std::vector<Element>{Element::fp16, Element::fp16, Element::fp32, Element::fp32,
                                      Element::fp16_32, Element::fp32_16});
}

VectorOp random_op(Draw& draw) {
  if (draw.chance(8)) {
    return draw.of(std::vector<VectorOp>{VectorOp::exp, VectorOp::tanh, VectorOp::sigmoid,
                                         VectorOp::erf, VectorOp::divide, VectorOp::rsqrt});
  }
  return draw.of(std::vector<VectorOp>{VectorOp::move, VectorOp::add, VectorOp::sub, VectorOp::mul,
                                       VectorOp::fma, VectorOp::fma, VectorOp::max, VectorOp::abs});
}

bool has_two(VectorOp op) {
  return op == VectorOp::add || op == VectorOp::sub || op == VectorOp::mul || op == VectorOp::fma ||
         op == VectorOp::max;
}

/// Operation and sources, all in memory; `a` may be replaced.
Instruction random_operation(Draw& draw, std::uint32_t length) {
  Instruction what;
  what.op = random_op(draw);
  what.element = random_element(draw);
  what.length = length;
  const bool half = oracle::is_half(what.element);
  what.a = source(draw, half, length);
  if (has_two(what.op)) what.b = source(draw, half, length);
  if (what.op == VectorOp::divide) what.b = number(1.5F);
  if (what.op == VectorOp::rsqrt) what.a = number(2.0F);
  what.starts_sum = what.op == VectorOp::mul && draw.chance(20);
  what.simd64 = draw.chance(25);
  return what;
}

/// Gives `what` the length with which it takes so many words.
bool fit(Instruction& what, std::uint32_t words, const TaskParams& params) {
  for (std::uint32_t length = words; length <= 2 * words; ++length) {
    what.length = length;
    if (words_taken(what, params) == words) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint8_t> random_memory(Draw& draw) {
  std::vector<std::uint8_t> memory(kRandomMemory, 0);
  const auto put = [&](std::uint32_t at, std::uint32_t bits, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
      memory[at + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  };
  const auto value = [&] { return (static_cast<float>(draw.pick(0, 64)) - 32) / 32; };
  for (std::uint32_t at = 0; at < kRegion; at += 2) put(at, to_half(value()), 2);
  for (std::uint32_t at = kRegion; at < 2 * kRegion; at += 4) {
    put(at, oracle::to_bits(value(), false, false), 4);
  }
  for (std::uint32_t i = 0; i < kRandomIntegerBytes; i += 4) {
    put(kRandomIntegers + i, random_integer(draw), 4);
  }
  return memory;
}

std::uint32_t words_sent(const Instruction& what, const TaskParams& params) {
  return words(what, params, oracle::is_half_result(what.element));
}

std::uint32_t words_taken(const Instruction& what, const TaskParams& params) {
  return words(what, params, oracle::is_half(what.element));
}

Instruction random_local(Draw& draw, std::uint32_t most) {
  Instruction what = random_operation(draw, draw.pick(1, most));
  what.to = memory_operand(draw, oracle::is_half_result(what.element), what.length);
  return what;
}

Instruction random_send(Draw& draw, Color color, std::uint32_t length) {
  Instruction what = random_operation(draw, length);
  what.to = on_fabric(color);
  return what;
}

Instruction random_take(Draw& draw, const Operand& from, std::uint32_t words,
                        const TaskParams& params) {
  for (;;) {
    Instruction what = random_operation(draw, 2 * words);
    const bool second = has_two(what.op) && draw.chance(30);
    (second ? what.b : what.a) = from;
    const bool half = oracle::is_half_result(what.element);
    what.to = draw.chance(10) ? number(0) : memory_operand(draw, half, 2 * words);
    if (fit(what, words, params)) return what;
  }
}

Instruction random_pass(Draw& draw, const Operand& from, std::uint32_t words, Color color,
                        const TaskParams& params) {
  for (;;) {
    Instruction what = random_operation(draw, 2 * words);
    what.a = from;
    what.to = on_fabric(color);
    if (fit(what, words, params)) return what;
  }
}

Instruction send_integers(Draw& draw, Color color, std::uint32_t length) {
  Instruction what;
  what.element = Element::int32;
  what.length = length;
  what.to = on_fabric(color);
  what.a = draw.chance(50) ? in_memory(kRandomIntegers + 4 * draw.pick(0, 20))
                           : number(static_cast<float>(random_integer(draw)));
  what.simd64 = draw.chance(25);
  return what;
}

Instruction send_control(Color color, std::uint8_t id, std::uint32_t length) {
  Instruction what;
  what.element = Element::int32;
  what.length = length;
  what.to = on_fabric(color);
  what.a = number(static_cast<float>(std::uint32_t{id} << 16U));
  what.control = true;
  return what;
}

Step random_step(Draw& draw, std::uint32_t routines) {
  const std::uint32_t way = draw.pick(0, 9);
  if (way < 3) return work(draw.pick(0, 12));
  if (way < 5 && routines != 0) return call(draw.pick(0, routines - 1));
  Instruction what = random_local(draw);
  if (draw.chance(20)) what.thread = static_cast<std::uint8_t>(draw.pick(1, 8));
  return run(what);
}

}  // namespace lacuna::wse

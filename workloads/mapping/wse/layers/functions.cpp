// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/functions.hpp"

#include <cmath>
#include <optional>

#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;

constexpr float kScale = 0.125F;  // of scores: one over the root of a head's width of 64
constexpr float kGeluCubic = 0.044715F;
constexpr float kGeluRoot = 0.7978845608F;  // sqrt(2 / pi)

/// Writes instructions over whole vectors, by address.
class FunctionWriter {
 public:
  FunctionWriter(const ElementSpace& space, CoreCode& code) : s_(space), code_(code) {}

  std::uint32_t x(unsigned t = 0) const { return s_.operands.at(t); }
  std::uint32_t y(unsigned r = 0) const { return s_.results.at(r); }
  std::uint32_t t(unsigned i = 0) const { return s_.scratch.at(i); }
  const Operand& shared() const { return s_.shared; }

  void op(Op what, std::uint32_t to, std::uint32_t a, const Operand& b) {
    code_.vector(what, s_.element, in_memory(to), in_memory(a), b, s_.length);
  }
  void op(Op what, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
    op(what, to, a, in_memory(b));
  }
  void op(Op what, std::uint32_t to, std::uint32_t a, float b) { op(what, to, a, number(b)); }
  void of(Op what, std::uint32_t to, std::uint32_t a) { op(what, to, a, Operand()); }

  const ElementSpace& space() const { return s_; }
  CoreCode& code() { return code_; }

 private:
  const ElementSpace& s_;
  CoreCode& code_;
};

/// to = 1 - a
void one_less(FunctionWriter& w, std::uint32_t to, std::uint32_t a) {
  w.op(Op::mul, to, a, -1.0F);
  w.op(Op::add, to, to, 1.0F);
}

/// y = 0.5 x (1 + tanh(c (x + a x^3))), not in place.
void gelu(FunctionWriter& w, std::uint32_t y, std::uint32_t x) {
  w.op(Op::mul, y, x, x);
  w.op(Op::mul, y, y, kGeluRoot * kGeluCubic);
  w.op(Op::add, y, y, kGeluRoot);
  w.op(Op::mul, y, y, x);
  w.of(Op::tanh, y, y);
  w.op(Op::add, y, y, 1.0F);
  w.op(Op::mul, y, y, x);
  w.op(Op::mul, y, y, 0.5F);
}

/// y = dy times the slope of that at x; `t` and `u` are overwritten, y may be none of the operands.
void gelu_back(FunctionWriter& w, std::uint32_t y, std::uint32_t dy, std::uint32_t x,
               std::uint32_t t, std::uint32_t u) {
  w.op(Op::mul, u, x, x);
  w.op(Op::mul, t, u, kGeluRoot * kGeluCubic);
  w.op(Op::add, t, t, kGeluRoot);
  w.op(Op::mul, t, t, x);
  w.of(Op::tanh, t, t);
  w.op(Op::mul, u, u, 3 * kGeluRoot * kGeluCubic);
  w.op(Op::add, u, u, kGeluRoot);
  w.op(Op::mul, u, u, x);  // x times the slope of the inner term
  w.op(Op::mul, y, t, t);
  one_less(w, y, y);
  w.op(Op::mul, y, y, u);
  w.op(Op::add, y, y, t);
  w.op(Op::add, y, y, 1.0F);
  w.op(Op::mul, y, y, dy);
  w.op(Op::mul, y, y, 0.5F);
}

/// Result 0 of x[0] x[1] + sign * partner's x[0] x[2], where features are partners in pairs.
void rotate(FunctionWriter& w, Op combine) {
  const ElementSpace& s = w.space();
  const unsigned bytes = result_bytes(s.element);
  w.op(Op::mul, w.y(), w.x(0), w.x(1));
  const auto every_second = [&](std::uint32_t address, unsigned first) {
    Operand operand = in_memory(address + first * s.run * bytes);
    operand.inner = s.run;
    operand.outer = static_cast<std::int32_t>(2 * s.run);
    return operand;
  };
  for (unsigned first = 0; first < 2; ++first) {
    w.code().vector(Op::mul, s.element, every_second(w.t(), first), every_second(w.x(0), 1 - first),
                    every_second(w.x(2), first), s.length / 2);
  }
  w.op(combine, w.y(), w.y(), w.t());
}

/// 16-bit xorshift by element, three shifts and three exclusive ors, a comparison with the rate,
/// and what it lets through as a factor.
void dropout_bits(FunctionWriter& w) {
  const ElementSpace& s = w.space();
  constexpr unsigned kIntegerSteps = 8;
  for (unsigned i = 0; i < kIntegerSteps; ++i) {
    w.code().vector(Op::move, Element::int16, in_memory(w.t()), in_memory(w.t()), Operand(),
                    s.length);
  }
}

void cast(const ElementSpace& s, CoreCode& code) {
  const Element way = s.element == Element::fp32 ? Element::fp16_32 : Element::fp32_16;
  code.vector(Op::move, way, in_memory(s.results[0]), in_memory(s.operands[0]), Operand(),
              s.length);
}

void copy(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.of(Op::move, w.y(), w.x());
}

template <Op kOp>
void of_two(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(kOp, w.y(), w.x(0), w.x(1));
}

template <Op kOp>
void of_one(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.of(kOp, w.y(), w.x());
}

void scaled(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::mul, w.y(), w.x(), kScale);
}

void shared_added(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::add, w.y(), w.x(), w.shared());
}

void relu(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::max, w.y(), w.x(), 0.0F);
}

void gelu_forward(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  gelu(w, w.y(), w.x());
}

/// In halves as of a decoder's layer, whose polynomial is as exact; the vectors of scratch lie one
/// behind the other.
void gated(const ElementSpace& s, std::optional<std::uint32_t> up, CoreCode& code) {
  if (s.element == Element::fp32) {
    FunctionWriter w(s, code);
    w.of(Op::sigmoid, w.y(), w.x());
    w.op(Op::mul, w.y(), w.y(), w.x());
    if (up) w.op(Op::mul, w.y(), w.y(), *up);
    return;
  }
  const GatedUnit unit{up, s.operands[0], s.scratch[0], static_cast<std::uint32_t>(s.length)};
  const std::uint32_t made = write_silu(code, unit, s.element);
  code.move(s.element, in_memory(s.results[0]), in_memory(made), s.length);
}

void silu(const ElementSpace& s, CoreCode& code) { gated(s, {}, code); }

void swiglu(const ElementSpace& s, CoreCode& code) { gated(s, s.operands[1], code); }

void glu(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.of(Op::sigmoid, w.y(), w.x());
  w.op(Op::mul, w.y(), w.y(), w.x(1));
}

void bias_add(const ElementSpace& s, CoreCode& code) {
  shared_added(s, code);
  FunctionWriter w(s, code);
  w.op(Op::add, w.y(), w.y(), w.x(1));
}

void bias_gelu(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::add, w.t(), w.x(), w.shared());
  gelu(w, w.y(), w.t());
}

void scale_mask(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::mul, w.y(), w.x(), kScale);
  w.op(Op::add, w.y(), w.y(), w.shared());
}

void rope(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  rotate(w, Op::add);
}

void rope_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  rotate(w, Op::sub);
}

void dropout(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  dropout_bits(w);
  w.op(Op::mul, w.y(), w.x(), w.shared());
}

void dropout_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::mul, w.y(), w.x(), w.shared());
}

/// dy where x is positive: max(-1, -large max(x, 0)) is -1 there and 0 elsewhere.
void relu_back(const ElementSpace& s, CoreCode& code) {
  constexpr float kLarge = 32768;
  FunctionWriter w(s, code);
  w.op(Op::max, w.y(), w.x(1), 0.0F);
  w.op(Op::mul, w.y(), w.y(), -kLarge);
  w.op(Op::max, w.y(), w.y(), -1.0F);
  w.op(Op::mul, w.y(), w.y(), w.x(0));
  w.op(Op::mul, w.y(), w.y(), -1.0F);
}

void gelu_backward(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  gelu_back(w, w.y(), w.x(0), w.x(1), w.t(0), w.t(1));
}

/// Of the saved result y and the saved sigmoid g: dy (y + g (1 - y)).
void silu_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  one_less(w, w.y(), w.x(1));
  w.op(Op::mul, w.y(), w.y(), w.x(2));
  w.op(Op::add, w.y(), w.y(), w.x(1));
  w.op(Op::mul, w.y(), w.y(), w.x(0));
}

void tanh_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::mul, w.y(), w.x(1), w.x(1));
  one_less(w, w.y(), w.y());
  w.op(Op::mul, w.y(), w.y(), w.x(0));
}

void sigmoid_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  one_less(w, w.y(), w.x(1));
  w.op(Op::mul, w.y(), w.y(), w.x(1));
  w.op(Op::mul, w.y(), w.y(), w.x(0));
}

/// With g = sigmoid(a): dy b (g + a g (1 - g)), and dy a g.
void swiglu_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.of(Op::sigmoid, w.t(), w.x(1));
  one_less(w, w.y(0), w.t());
  w.op(Op::mul, w.y(1), w.x(1), w.t());
  w.op(Op::mul, w.y(0), w.y(0), w.y(1));
  w.op(Op::add, w.y(0), w.y(0), w.t());
  w.op(Op::mul, w.y(0), w.y(0), w.x(2));
  w.op(Op::mul, w.y(0), w.y(0), w.x(0));
  w.op(Op::mul, w.y(1), w.y(1), w.x(0));
}

/// With g = sigmoid(a): dy b g (1 - g), and dy g.
void glu_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.of(Op::sigmoid, w.t(), w.x(1));
  one_less(w, w.y(0), w.t());
  w.op(Op::mul, w.y(1), w.x(0), w.t());
  w.op(Op::mul, w.y(0), w.y(0), w.y(1));
  w.op(Op::mul, w.y(0), w.y(0), w.x(2));
}

void mul_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::mul, w.y(0), w.x(0), w.x(2));
  w.op(Op::mul, w.y(1), w.x(0), w.x(1));
}

void bias_gelu_back(const ElementSpace& s, CoreCode& code) {
  FunctionWriter w(s, code);
  w.op(Op::add, w.t(2), w.x(0), w.shared());
  gelu_back(w, w.y(), w.x(1), w.t(2), w.t(0), w.t(1));
}

constexpr Phase kForward = Phase::fwd;
constexpr Phase kBackward = Phase::bwd;

constexpr std::array<ElementCode, 36> kCodes = {{
    {"relu", kForward, 0, relu},
    {"gelu", kForward, 0, gelu_forward},
    {"silu", kForward, 3, silu},
    {"tanh", kForward, 0, of_one<Op::tanh>},
    {"sigmoid", kForward, 0, of_one<Op::sigmoid>},
    {"swiglu", kForward, 3, swiglu},
    {"glu", kForward, 0, glu},
    {"add", kForward, 0, of_two<Op::add>},
    {"mul", kForward, 0, of_two<Op::mul>},
    {"bias", kForward, 0, shared_added},
    {"bias_add", kForward, 0, bias_add},
    {"bias_gelu", kForward, 1, bias_gelu},
    {"scale", kForward, 0, scaled},
    {"mask", kForward, 0, shared_added},
    {"scale_mask", kForward, 0, scale_mask},
    {"cast", kForward, 0, cast},
    {"cast", kBackward, 0, cast},
    {"copy", kForward, 0, copy},
    {"rope", kForward, 1, rope},
    {"dropout", kForward, 1, dropout},
    {"relu", kBackward, 0, relu_back},
    {"gelu", kBackward, 2, gelu_backward},
    {"silu", kBackward, 0, silu_back},
    {"tanh", kBackward, 0, tanh_back},
    {"sigmoid", kBackward, 0, sigmoid_back},
    {"swiglu", kBackward, 1, swiglu_back},
    {"glu", kBackward, 1, glu_back},
    {"add", kBackward, 0, copy},
    {"mul", kBackward, 0, mul_back},
    {"scale", kBackward, 0, scaled},
    {"mask", kBackward, 0, copy},
    {"scale_mask", kBackward, 0, scaled},
    {"copy", kBackward, 0, copy},
    {"rope", kBackward, 1, rope_back},
    {"dropout", kBackward, 0, dropout_back},
    {"bias_gelu", kBackward, 3, bias_gelu_back},
}};

}  // namespace

const ElementCode* find_element_code(const std::string& fn, Phase phase) {
  const Phase wanted = phase == Phase::bwd ? Phase::bwd : Phase::fwd;
  for (const ElementCode& code : kCodes) {
    if (fn == code.fn && wanted == code.phase) return &code;
  }
  return nullptr;
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/row_code.hpp"

#include "models/wse/pe/vector_unit.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/functions.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;

constexpr float kEpsilon = 1e-5F;  // keeps a norm from dividing by zero

/// Writes the instructions of one core of a line.
class RowWriter {
 public:
  RowWriter(const RowSpace& space, const CoreLine& line, std::uint32_t core, CoreCode& code)
      : s_(space), line_(line), core_(core), code_(code), half_(space.element == Element::fp16) {}

  /// Over all elements: to = a op b.
  void all(Op op, std::uint32_t to, std::uint32_t a, const Operand& b) {
    code_.vector(op, s_.element, in_memory(to), in_memory(a), b, s_.elements());
  }
  void all(Op op, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
    all(op, to, a, in_memory(b));
  }

  /// Each token's number, for every feature; each feature's number, for every token.
  Operand of_token(std::uint32_t address) const {
    return around(address, static_cast<std::uint32_t>(s_.tokens));
  }
  Operand of_feature(std::uint32_t address) const { return each_for(address, s_.tokens); }
  std::uint32_t stat(unsigned i) const { return address(s_.stats, i * s_.tokens); }
  std::uint32_t sum(unsigned i) const {
    return static_cast<std::uint32_t>(s_.sums + std::uint64_t{4} * i * s_.tokens);
  }
  std::uint32_t column(unsigned i) const { return s_.columns + 4 * i * s_.features; }

  /// Adds up a * b (or a) over this core's features, for each token.
  void sum_features(unsigned i, std::uint32_t a, const Operand& b) {
    const Element to_single = half_ ? Element::fp16_32 : Element::fp32;
    code_.vector(Op::mul, to_single, in_memory(sum(i)), in_memory(a), b, s_.tokens);
    Operand rest = b;
    if (b.kind == Operand::Kind::memory) rest.address = address(b.address, s_.tokens);
    code_.vector(Op::fma, to_single, of_token(sum(i)), in_memory(address(a, s_.tokens)), rest,
                 s_.elements() - s_.tokens);
  }

  /// Adds up a * b (or a) over this core's tokens, for each feature.
  void sum_tokens(unsigned i, std::uint32_t a, const Operand& b) {
    const Element to_single = half_ ? Element::fp16_32 : Element::fp32;
    code_.move(Element::fp32, in_memory(column(i)), number(0), s_.features);
    code_.vector(Op::fma, to_single, of_feature(column(i)), in_memory(a), b, s_.elements());
  }

  /// The maximum over this core's features, for each token, in statistic 0.
  void max_features(std::uint32_t a) {
    code_.move(s_.element, in_memory(stat(0)), in_memory(a), s_.tokens);
    code_.vector(Op::max, s_.element, of_token(stat(0)), in_memory(address(a, s_.tokens)),
                 of_token(stat(0)), s_.elements() - s_.tokens);
  }
  void max_of_line() {
    line_.reduce(core_, Op::max, s_.element, stat(0), s_.tokens, code_);
    line_.broadcast(core_, s_.element, stat(0), s_.tokens, code_);
  }

  /// Brings `count` sums of all cores to the first, which `finish` makes statistics of, for all.
  template <class Finish>
  void sums_of_line(unsigned count, const Finish& finish) {
    const std::uint64_t length = count * s_.tokens;
    line_.reduce(core_, Op::add, Element::fp32, s_.sums, length, code_);
    if (core_ == 0) {
      finish(length);
      code_.move(half_ ? Element::fp32_16 : Element::fp32, in_memory(s_.stats), in_memory(s_.sums),
                 length);
    }
    line_.broadcast(core_, s_.element, s_.stats, length, code_);
  }

  /// Of the sums, at the first core.
  void on_sums(Op op, const Operand& a, const Operand& b, std::uint64_t length) {
    code_.vector(op, Element::fp32, in_memory(s_.sums), a, b, length);
  }
  void mean(std::uint64_t length) {
    on_sums(Op::mul, in_memory(s_.sums), number(1.0F / static_cast<float>(s_.length)), length);
  }
  void reciprocal_root(std::uint64_t length) {
    mean(length);
    on_sums(Op::add, in_memory(s_.sums), number(kEpsilon), length);
    on_sums(Op::rsqrt, in_memory(s_.sums), Operand(), length);
  }

  const RowSpace& space() const { return s_; }
  CoreCode& code() { return code_; }

 private:
  std::uint32_t address(std::uint32_t base, std::uint64_t element) const {
    return static_cast<std::uint32_t>(base + element * result_bytes(s_.element));
  }

  const RowSpace& s_;
  const CoreLine& line_;
  std::uint32_t core_;
  CoreCode& code_;
  bool half_;
};

void softmax(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.max_features(s.x);
  w.max_of_line();
  w.all(Op::sub, s.y, s.x, w.of_token(w.stat(0)));
  w.all(Op::exp, s.y, s.y, Operand());
  w.sum_features(0, s.y, number(1));
  w.sums_of_line(1, [&](std::uint64_t length) {
    w.on_sums(Op::divide, number(1), in_memory(s.sums), length);
  });
  w.all(Op::mul, s.y, s.y, w.of_token(w.stat(0)));
}

/// y = x where x is less than the maximum m, else 0: max(-1, large (x - m)) is 0 there and
/// otherwise -1, if it is done twice: neighbours of FP16 differ by 2^-24 at least, and of FP32
/// those that are nearer than 2^-30 stay in part.
void take_max(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  constexpr float kLarge = 32768;
  RowWriter w(s, line, core, code);
  w.max_features(s.x);
  w.max_of_line();
  w.all(Op::sub, s.y, s.x, w.of_token(w.stat(0)));
  for (int i = 0; i < 2; ++i) {
    w.all(Op::mul, s.y, s.y, number(kLarge));
    w.all(Op::max, s.y, s.y, number(-1));
  }
  w.all(Op::mul, s.y, s.y, s.x);
  w.all(Op::mul, s.y, s.y, number(-1));
}

/// y (dy - sum of y dy)
void softmax_back(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_features(0, s.x, in_memory(s.dy));
  w.sums_of_line(1, [](std::uint64_t) {});
  w.all(Op::sub, s.y, s.dy, w.of_token(w.stat(0)));
  w.all(Op::mul, s.y, s.y, s.x);
}

/// The deviation from the mean is formed first, then its squares are summed: in FP16 the sum of
/// squares less the square of the mean would lose what counts.
void layernorm(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_features(0, s.x, number(1));
  w.sums_of_line(1, [&](std::uint64_t length) { w.mean(length); });
  w.all(Op::sub, s.y, s.x, w.of_token(w.stat(0)));
  w.sum_features(0, s.y, in_memory(s.y));
  w.sums_of_line(1, [&](std::uint64_t length) { w.reciprocal_root(length); });
  w.all(Op::mul, s.y, s.y, w.of_token(w.stat(0)));
  w.all(Op::mul, s.y, s.y, w.of_feature(s.vectors[0]));
  w.all(Op::add, s.y, s.y, w.of_feature(s.vectors[1]));
}

void rmsnorm(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_features(0, s.x, in_memory(s.x));
  w.sums_of_line(1, [&](std::uint64_t length) { w.reciprocal_root(length); });
  w.all(Op::mul, s.y, s.x, w.of_token(w.stat(0)));
  w.all(Op::mul, s.y, s.y, w.of_feature(s.vectors[0]));
}

/// With g = gamma dy and z the normalised x: (g - mean of g - z mean of g z) / deviation. Scratch:
/// z, g.
void layernorm_back(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  const std::uint32_t z = s.scratch[0];
  const std::uint32_t g = s.scratch[1];
  w.all(Op::sub, z, s.x, w.of_token(s.saved[0]));
  w.all(Op::mul, z, z, w.of_token(s.saved[1]));
  w.all(Op::mul, g, s.dy, w.of_feature(s.vectors[0]));
  w.sum_features(0, g, number(1));
  w.sum_features(1, g, in_memory(z));
  w.sums_of_line(2, [&](std::uint64_t length) { w.mean(length); });
  w.all(Op::mul, s.y, z, w.of_token(w.stat(1)));
  w.all(Op::add, s.y, s.y, w.of_token(w.stat(0)));
  w.all(Op::sub, s.y, g, s.y);
  w.all(Op::mul, s.y, s.y, w.of_token(s.saved[1]));
  w.sum_tokens(0, s.dy, number(1));
  w.sum_tokens(1, s.dy, in_memory(z));
}

void rmsnorm_back(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  const std::uint32_t z = s.scratch[0];
  const std::uint32_t g = s.scratch[1];
  w.all(Op::mul, z, s.x, w.of_token(s.saved[1]));
  w.all(Op::mul, g, s.dy, w.of_feature(s.vectors[0]));
  w.sum_features(0, g, in_memory(z));
  w.sums_of_line(1, [&](std::uint64_t length) { w.mean(length); });
  w.all(Op::mul, s.y, z, w.of_token(w.stat(0)));
  w.all(Op::sub, s.y, g, s.y);
  w.all(Op::mul, s.y, s.y, w.of_token(s.saved[1]));
  w.sum_tokens(0, s.dy, in_memory(z));
}

/// The gradient of a bias; that of the other operands is the gradient itself.
void bias_back(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_tokens(0, s.x, number(1));
}

void bias_gelu_back(const RowSpace& s, const CoreLine& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  ElementSpace elements;
  elements.element = s.element;
  elements.operands = {s.x, s.dy, 0};
  elements.results = {s.y, 0};
  elements.scratch = s.scratch;
  elements.shared = w.of_feature(s.vectors[0]);
  elements.run = static_cast<std::uint32_t>(s.tokens);
  elements.length = s.elements();
  find_element_code("bias_gelu", Phase::bwd)->write(elements, code);
  w.sum_tokens(0, s.y, number(1));
}

constexpr std::array<RowCode, 10> kRowCodes = {{
    {"softmax", Phase::fwd, 0, 0, softmax},
    {"softmax", Phase::bwd, 0, 0, softmax_back},
    {"take_max", Phase::fwd, 0, 0, take_max},
    {"layernorm", Phase::fwd, 0, 0, layernorm},
    {"layernorm", Phase::bwd, 2, 2, layernorm_back},
    {"rmsnorm", Phase::fwd, 0, 0, rmsnorm},
    {"rmsnorm", Phase::bwd, 2, 1, rmsnorm_back},
    {"bias", Phase::bwd, 0, 1, bias_back},
    {"bias_add", Phase::bwd, 0, 1, bias_back},
    {"bias_gelu", Phase::bwd, 3, 1, bias_gelu_back},
}};

}  // namespace

const RowCode* find_row_code(const std::string& name, Phase phase) {
  const Phase wanted = phase == Phase::bwd ? Phase::bwd : Phase::fwd;
  for (const RowCode& code : kRowCodes) {
    if (name == code.op && wanted == code.phase) return &code;
  }
  return nullptr;
}

}  // namespace lacuna::wse

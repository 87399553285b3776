// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/row_code.hpp"

#include <optional>

#include "models/wse/pe/vector_unit.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/layers/functions.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;

/// Writes the instructions of one core of a line.
class RowWriter {
 public:
  RowWriter(const RowSpace& space, const LineSums& line, std::uint32_t core, CoreCode& code)
      : s_(space),
        line_(line),
        core_(core),
        code_(code),
        half_(space.element == Element::fp16),
        rows_{space.tokens, space.tokens} {}

  /// Over all elements: to = a op b.
  void all(Op op, std::uint32_t to, std::uint32_t a, const Operand& b) {
    code_.vector(op, s_.element, in_memory(to), in_memory(a), b, s_.elements);
  }
  void all(Op op, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
    all(op, to, a, in_memory(b));
  }
  /// The same with a number of each token.
  void by_token(Op op, Element element, std::uint32_t to, std::uint32_t a, std::uint32_t numbers) {
    if (s_.kept.empty()) {
      code_.vector(op, element, in_memory(to), in_memory(a), rows_.each_token(numbers),
                   s_.elements);
      return;
    }
    const unsigned bytes = result_bytes(element);
    for_each_token([&](std::uint32_t t, std::uint32_t first, std::uint32_t count) {
      code_.vector(op, element, in_memory(to + first * bytes), in_memory(a + first * bytes),
                   cell(numbers + t * bytes), count);
    });
  }
  void by_token(Op op, std::uint32_t to, std::uint32_t a, std::uint32_t numbers) {
    by_token(op, s_.element, to, a, numbers);
  }
  void by_feature(Op op, std::uint32_t to, std::uint32_t a, std::uint32_t numbers) {
    all(op, to, a, rows_.each_feature(numbers));
  }

  std::uint32_t stat(unsigned i) const {
    return s_.stats + i * s_.tokens * result_bytes(s_.element);
  }
  std::uint32_t sum(unsigned i) const { return s_.sums + 4 * i * s_.tokens; }
  std::uint32_t column(unsigned i) const { return s_.columns + 4 * i * s_.features; }

  /// Of each token over this core's features: the largest, or the sum, of numbers of this type.
  void of_tokens(Op op, Element element, std::uint32_t to, std::uint32_t from, float first) {
    if (s_.kept.empty()) {
      write_of_tokens(code_, rows_, op, element, to, from, s_.features, first);
      return;
    }
    const unsigned bytes = result_bytes(element);
    code_.move(element, in_memory(to), number(first), s_.tokens);
    for_each_token([&](std::uint32_t t, std::uint32_t at, std::uint32_t count) {
      const Operand one = in_memory(to + t * bytes, 0);
      code_.vector(op, element, one, in_memory(from + at * bytes), one, count);
    });
  }
  /// The sums of the products of a and b, or of a alone.
  void sum_features(unsigned i, std::uint32_t a, std::optional<std::uint32_t> b = {}) {
    if (s_.kept.empty()) {
      write_token_products(code_, rows_, sum(i), a, b, s_.features, s_.element, Element::fp32);
      return;
    }
    const unsigned bytes = result_bytes(s_.element);
    code_.move(Element::fp32, in_memory(sum(i)), number(0), s_.tokens);
    for_each_token([&](std::uint32_t t, std::uint32_t at, std::uint32_t count) {
      code_.vector(Op::fma, to_single(), in_memory(sum(i) + 4 * t, 0), in_memory(a + at * bytes),
                   b ? in_memory(*b + at * bytes) : number(1), count);
    });
  }
  /// Adds up a * b (or a) over this core's tokens, for each feature.
  void sum_tokens(unsigned i, std::uint32_t a, const Operand& b) {
    code_.move(Element::fp32, in_memory(column(i)), number(0), s_.features);
    code_.vector(Op::fma, to_single(), rows_.each_feature(column(i)), in_memory(a), b, s_.elements);
  }

  /// The largest of each token, of the whole row, in statistic 0.
  void maxima(std::uint32_t from) {
    constexpr float kLeast = -60000;  // below every score
    of_tokens(Op::max, s_.element, stat(0), from, kLeast);
    line_.write(code_, core_, {stat(0), s_.tokens, s_.element, Op::max});
  }
  /// Adds `count` sums of all cores up.
  void sums_of_line(unsigned count) { line_.write(code_, core_, {s_.sums, count * s_.tokens}); }
  /// The same, and makes statistics of them.
  void stats_of_line(unsigned count) {
    sums_of_line(count);
    to_stats(count);
  }
  void to_stats(unsigned count) {
    code_.move(half_ ? Element::fp32_16 : Element::fp32, in_memory(s_.stats), in_memory(s_.sums),
               count * s_.tokens);
  }
  void means_of_line(unsigned count) {
    sums_of_line(count);
    const Operand sums = in_memory(s_.sums);
    code_.vector(Op::mul, Element::fp32, sums, sums, number(1.0F / static_cast<float>(s_.length)),
                 count * s_.tokens);
    to_stats(count);
  }
  /// 1 / rms of what has been summed up.
  void inverse_rms() {
    constexpr float kEpsilon = 1e-5F;
    sums_of_line(1);
    write_inverse_rms(code_, s_.sums, s_.tokens, static_cast<std::uint32_t>(s_.length),
                      Element::fp32, kEpsilon);
    to_stats(1);
  }

  Element to_single() const { return half_ ? Element::fp16_32 : Element::fp32; }
  const TokenRows& rows() const { return rows_; }

 private:
  /// write(token, first element, elements) for tokens of which something is kept here.
  template <class Write>
  void for_each_token(const Write& write) const {
    std::uint32_t first = 0;
    for (std::uint32_t t = 0; t < s_.tokens; ++t) {
      if (s_.kept[t] != 0) write(t, first, s_.kept[t]);
      first += s_.kept[t];
    }
  }

  const RowSpace& s_;
  const LineSums& line_;
  std::uint32_t core_;
  CoreCode& code_;
  bool half_;
  TokenRows rows_;
};

/// Exponentials and their sum in single precision, as of a decoder's layer. Its polynomial is as
/// exact as halves are; results in single precision are special functions.
void softmax(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  const bool half = s.element == Element::fp16;
  const auto elements = static_cast<std::uint32_t>(s.elements);
  const std::uint32_t made = half ? s.singles[1] : s.y;
  w.maxima(s.x);
  w.by_token(Op::sub, s.y, s.x, w.stat(0));
  if (half) {
    code.move(Element::fp16_32, in_memory(s.singles[0]), in_memory(s.y), elements);
    write_exp(code, made, s.singles[0], elements, Element::fp32);
  } else {
    w.all(Op::exp, s.y, s.y, Operand());
  }
  w.of_tokens(Op::add, Element::fp32, s.sums, made, 0);
  w.sums_of_line(1);
  const Operand sums = in_memory(s.sums);
  code.vector(Op::divide, Element::fp32, sums, number(1), sums, s.tokens);
  w.by_token(Op::mul, Element::fp32, made, made, s.sums);
  write_halves(code, s.y, made, elements, Element::fp32);
}

/// y = x where x is less than the maximum m, else 0: max(-1, large (x - m)) is 0 there and
/// otherwise -1, if it is done twice: neighbours of FP16 differ by 2^-24 at least, and of FP32
/// those that are nearer than 2^-30 stay in part.
void take_max(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  constexpr float kLarge = 32768;
  RowWriter w(s, line, core, code);
  w.maxima(s.x);
  w.by_token(Op::sub, s.y, s.x, w.stat(0));
  for (int i = 0; i < 2; ++i) {
    w.all(Op::mul, s.y, s.y, number(kLarge));
    w.all(Op::max, s.y, s.y, number(-1));
  }
  w.all(Op::mul, s.y, s.y, s.x);
  w.all(Op::mul, s.y, s.y, number(-1));
}

/// y (dy - sum of y dy)
void softmax_back(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_features(0, s.x, s.dy);
  w.stats_of_line(1);
  w.by_token(Op::sub, s.y, s.dy, w.stat(0));
  w.all(Op::mul, s.y, s.y, s.x);
}

/// The deviation from the mean is formed first, then its squares are summed: in FP16 the sum of
/// squares less the square of the mean would lose what counts.
void layernorm(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_features(0, s.x);
  w.means_of_line(1);
  w.by_token(Op::sub, s.y, s.x, w.stat(0));
  w.sum_features(0, s.y, s.y);
  w.inverse_rms();
  w.by_token(Op::mul, s.y, s.y, w.stat(0));
  w.by_feature(Op::mul, s.y, s.y, s.vectors[0]);
  w.by_feature(Op::add, s.y, s.y, s.vectors[1]);
}

void rmsnorm(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_features(0, s.x, s.x);
  w.inverse_rms();
  w.by_feature(Op::mul, s.y, s.x, s.vectors[0]);
  w.by_token(Op::mul, s.y, s.y, w.stat(0));
}

/// With g = gamma dy and z the normalised x: (g - mean of g - z mean of g z) / deviation; without
/// the mean of g if the norm takes none away (`centred`). Scratch: z, g.
template <bool centred>
void norm_back(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  constexpr unsigned kLast = centred ? 1 : 0;
  RowWriter w(s, line, core, code);
  const std::uint32_t z = s.scratch[0];
  const std::uint32_t g = s.scratch[1];
  if (centred) w.by_token(Op::sub, z, s.x, s.saved[0]);
  w.by_token(Op::mul, z, centred ? z : s.x, s.saved[1]);
  w.by_feature(Op::mul, g, s.dy, s.vectors[0]);
  if (centred) w.sum_features(0, g);
  w.sum_features(kLast, g, z);
  w.means_of_line(kLast + 1);
  w.by_token(Op::mul, s.y, z, w.stat(kLast));
  if (centred) w.by_token(Op::add, s.y, s.y, w.stat(0));
  w.all(Op::sub, s.y, g, s.y);
  w.by_token(Op::mul, s.y, s.y, s.saved[1]);
  if (centred) w.sum_tokens(0, s.dy, number(1));
  w.sum_tokens(kLast, s.dy, in_memory(z));
}

/// The gradient of a bias; that of the other operands is the gradient itself.
void bias_back(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  w.sum_tokens(0, s.x, number(1));
}

void bias_gelu_back(const RowSpace& s, const LineSums& line, std::uint32_t core, CoreCode& code) {
  RowWriter w(s, line, core, code);
  ElementSpace elements;
  elements.element = s.element;
  elements.operands = {s.x, s.dy, 0};
  elements.results = {s.y, 0};
  elements.scratch = s.scratch;
  elements.shared = w.rows().each_feature(s.vectors[0]);
  elements.run = s.tokens;
  elements.length = s.elements;
  find_element_code("bias_gelu", Phase::bwd)->write(elements, code);
  w.sum_tokens(0, s.y, number(1));
}

constexpr std::array<RowCode, 10> kRowCodes = {{
    {"softmax", Phase::fwd, 0, 2, 0, softmax},
    {"softmax", Phase::bwd, 0, 0, 0, softmax_back},
    {"take_max", Phase::fwd, 0, 0, 0, take_max},
    {"layernorm", Phase::fwd, 0, 0, 0, layernorm},
    {"layernorm", Phase::bwd, 2, 0, 2, norm_back<true>},
    {"rmsnorm", Phase::fwd, 0, 0, 0, rmsnorm},
    {"rmsnorm", Phase::bwd, 2, 0, 1, norm_back<false>},
    {"bias", Phase::bwd, 0, 0, 1, bias_back},
    {"bias_add", Phase::bwd, 0, 0, 1, bias_back},
    {"bias_gelu", Phase::bwd, 3, 0, 1, bias_gelu_back},
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

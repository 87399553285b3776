// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/functions.hpp"

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "sim/base/split.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;

/// The vector that a letter of a formula names.
std::uint32_t vector_of(const ElementSpace& s, char name) {
  const auto behind = [name](char first) { return static_cast<std::size_t>(name - first); };
  if (name < 'd') return s.operands.at(behind('a'));
  return name < 'y' ? s.scratch.at(behind('t')) : s.results.at(behind('y'));
}

/// The second operand of an instruction.
Operand second_of(const ElementSpace& s, const std::string& word) {
  if (word == "s") return s.shared;
  const bool is_vector = word.size() == 1 && word[0] >= 'a';
  return is_vector ? in_memory(vector_of(s, word[0])) : number(std::strtof(word.c_str(), nullptr));
}

/// An instruction over whole vectors: "y = a * b", "y = tanh a" or "y = a".
void write_instruction(const ElementSpace& s, const std::vector<std::string>& words,
                       CoreCode& code) {
  static const std::map<std::string, Op> ops = {{"*", Op::mul},     {"+", Op::add},
                                                {"-", Op::sub},     {"max", Op::max},
                                                {"tanh", Op::tanh}, {"sigmoid", Op::sigmoid}};
  const bool of_two = words.size() == 5;
  const bool moves = words.size() == 3;
  const std::string& from = words.at(of_two || moves ? 2 : 3);
  code.vector(moves ? Op::move : ops.at(words.at(of_two ? 3 : 2)), s.element,
              in_memory(vector_of(s, words[0][0])), in_memory(vector_of(s, from[0])),
              of_two ? second_of(s, words[4]) : Operand(), s.length);
}

/// Features are partners in pairs: y = a b + (or -) the partner's a times c.
void rotate(const ElementSpace& s, const char* formula, CoreCode& code) {
  const unsigned bytes = result_bytes(s.element);
  const auto every_second = [&](std::uint32_t address, unsigned first) {
    Operand operand = in_memory(address + first * s.run * bytes);
    operand.inner = s.run;
    operand.outer = static_cast<std::int32_t>(2 * s.run);
    return operand;
  };
  write_formula(s, "y = a * b", code);
  for (unsigned first = 0; first < 2; ++first) {
    code.vector(Op::mul, s.element, every_second(s.scratch[0], first),
                every_second(s.operands[0], 1 - first), every_second(s.operands[2], first),
                s.length / 2);
  }
  write_formula(s, formula, code);
}

void rope(const ElementSpace& s, CoreCode& code) { rotate(s, "y = y + t", code); }
void rope_back(const ElementSpace& s, CoreCode& code) { rotate(s, "y = y - t", code); }

/// 16-bit xorshift by element, three shifts and three exclusive ors, a comparison with the rate,
/// and what it lets through as a factor.
void dropout(const ElementSpace& s, CoreCode& code) {
  constexpr unsigned kIntegerSteps = 8;
  const Operand bits = in_memory(s.scratch[0]);
  for (unsigned i = 0; i < kIntegerSteps; ++i) code.move(Element::int16, bits, bits, s.length);
  write_formula(s, "y = a * s", code);
}

void cast(const ElementSpace& s, CoreCode& code) {
  const Element way = s.element == Element::fp32 ? Element::fp16_32 : Element::fp32_16;
  code.move(way, in_memory(s.results[0]), in_memory(s.operands[0]), s.length);
}

/// In halves as of a decoder's layer, whose polynomial is as exact; the vectors of scratch lie one
/// behind the other.
void gated(const ElementSpace& s, std::optional<std::uint32_t> up, CoreCode& code) {
  if (s.element == Element::fp32) {
    write_formula(s, "y = sigmoid a; y = y * a", code);
    if (up) write_formula(s, "y = y * b", code);
    return;
  }
  const GatedUnit unit{up, s.operands[0], s.scratch[0], static_cast<std::uint32_t>(s.length)};
  const std::uint32_t made = write_silu(code, unit, s.element);
  code.move(s.element, in_memory(s.results[0]), in_memory(made), s.length);
}

void silu(const ElementSpace& s, CoreCode& code) { gated(s, {}, code); }
void swiglu(const ElementSpace& s, CoreCode& code) { gated(s, s.operands[1], code); }

constexpr Phase kForward = Phase::fwd;
constexpr Phase kBackward = Phase::bwd;
constexpr const char* kCopy = "y = a";
constexpr const char* kScale = "y = a * 0.125";  // one over the root of a head's width of 64
constexpr const char* kShared = "y = a + s";

// y = 0.5 x (1 + tanh(c (x + 0.044715 x^3))) with c the root of 2 / pi. Its slope at x: the inner
// term's tanh is t, x times the inner term's slope is u.
constexpr const char* kGelu =
    "y = a * a; y = y * 0.0356774069; y = y + 0.797884583; y = y * a; y = tanh y; y = y + 1; "
    "y = y * a; y = y * 0.5";
constexpr const char* kBiasGelu =
    "t = a + s; y = t * t; y = y * 0.0356774069; y = y + 0.797884583; y = y * t; y = tanh y; "
    "y = y + 1; y = y * t; y = y * 0.5";
constexpr const char* kGeluBack =
    "u = b * b; t = u * 0.0356774069; t = t + 0.797884583; t = t * b; t = tanh t; "
    "u = u * 0.107032232; u = u + 0.797884583; u = u * b; y = t * t; y = y * -1; y = y + 1; "
    "y = y * u; y = y + t; y = y + 1; y = y * a; y = y * 0.5";
constexpr const char* kBiasGeluBack =
    "v = a + s; u = v * v; t = u * 0.0356774069; t = t + 0.797884583; t = t * v; t = tanh t; "
    "u = u * 0.107032232; u = u + 0.797884583; u = u * v; y = t * t; y = y * -1; y = y + 1; "
    "y = y * u; y = y + t; y = y + 1; y = y * b; y = y * 0.5";

constexpr std::array<ElementCode, 36> kCodes = {{
    {"relu", kForward, 0, "y = a max 0"},
    {"gelu", kForward, 0, kGelu},
    {"silu", kForward, 3, "", silu},
    {"tanh", kForward, 0, "y = tanh a"},
    {"sigmoid", kForward, 0, "y = sigmoid a"},
    {"swiglu", kForward, 3, "", swiglu},
    {"glu", kForward, 0, "y = sigmoid a; y = y * b"},
    {"add", kForward, 0, "y = a + b"},
    {"mul", kForward, 0, "y = a * b"},
    {"bias", kForward, 0, kShared},
    {"bias_add", kForward, 0, "y = a + s; y = y + b"},
    {"bias_gelu", kForward, 1, kBiasGelu},
    {"scale", kForward, 0, kScale},
    {"mask", kForward, 0, kShared},
    {"scale_mask", kForward, 0, "y = a * 0.125; y = y + s"},
    {"cast", kForward, 0, "", cast},
    {"cast", kBackward, 0, "", cast},
    {"copy", kForward, 0, kCopy},
    {"rope", kForward, 1, "", rope},
    {"dropout", kForward, 1, "", dropout},
    // a where b is positive: max(-1, -large max(b, 0)) is -1 there and 0 elsewhere
    {"relu", kBackward, 0, "y = b max 0; y = y * -32768; y = y max -1; y = y * a; y = y * -1"},
    {"gelu", kBackward, 2, kGeluBack},
    // of the saved result b and the saved sigmoid c: a (b + c (1 - b))
    {"silu", kBackward, 0, "y = b * -1; y = y + 1; y = y * c; y = y + b; y = y * a"},
    {"tanh", kBackward, 0, "y = b * b; y = y * -1; y = y + 1; y = y * a"},
    {"sigmoid", kBackward, 0, "y = b * -1; y = y + 1; y = y * b; y = y * a"},
    // with g = sigmoid(b): a c (g + b g (1 - g)), and a b g
    {"swiglu", kBackward, 1,
     "t = sigmoid b; y = t * -1; y = y + 1; z = b * t; y = y * z; y = y + t; y = y * c; "
     "y = y * a; z = z * a"},
    // with g = sigmoid(b): a c g (1 - g), and a g
    {"glu", kBackward, 1, "t = sigmoid b; y = t * -1; y = y + 1; z = a * t; y = y * z; y = y * c"},
    {"add", kBackward, 0, kCopy},
    {"mul", kBackward, 0, "y = a * c; z = a * b"},
    {"scale", kBackward, 0, kScale},
    {"mask", kBackward, 0, kCopy},
    {"scale_mask", kBackward, 0, kScale},
    {"copy", kBackward, 0, kCopy},
    {"rope", kBackward, 1, "", rope_back},
    {"dropout", kBackward, 0, "y = a * s"},
    {"bias_gelu", kBackward, 3, kBiasGeluBack},
}};

}  // namespace

void write_formula(const ElementSpace& space, const char* formula, CoreCode& code) {
  for (const std::string& each : split(formula, ';')) {
    write_instruction(space, split(each.substr(each.find_first_not_of(' ')), ' '), code);
  }
}

void ElementCode::write(const ElementSpace& space, CoreCode& code) const {
  other == nullptr ? write_formula(space, formula, code) : other(space, code);
}

const ElementCode* find_element_code(const std::string& fn, Phase phase) {
  const Phase wanted = phase == Phase::bwd ? Phase::bwd : Phase::fwd;
  for (const ElementCode& code : kCodes) {
    if (fn == code.fn && wanted == code.phase) return &code;
  }
  return nullptr;
}

}  // namespace lacuna::wse

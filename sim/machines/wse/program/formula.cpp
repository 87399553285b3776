// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "models/common/fp16.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {
namespace {

using Formulas = std::vector<Formula>;

struct Operator {
  const char* text;
  double (*compute)(double, double);
};

/// By precedence, the weakest first; of one level the longer texts first.
const std::vector<std::vector<Operator>>& operators() {
  static const std::vector<std::vector<Operator>> levels = {
      {{"==", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
       {"!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
       {"<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
       {">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
       {"<", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
       {">", [](double a, double b) { return a > b ? 1.0 : 0.0; }}},
      {{"+", [](double a, double b) { return a + b; }},
       {"-", [](double a, double b) { return a - b; }}},
      {{"*", [](double a, double b) { return a * b; }},
       {"/", [](double a, double b) { return a / b; }},
       {"%", [](double a, double b) { return a - b * std::floor(a / b); }}}};
  return levels;
}

struct Function {
  const char* name;
  std::size_t arguments;
  double (*compute)(const Formulas& of, FormulaNames& names);
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"min", 2, [](const Formulas& of, FormulaNames& n) { return std::min(of[0](n), of[1](n)); }},
      {"max", 2, [](const Formulas& of, FormulaNames& n) { return std::max(of[0](n), of[1](n)); }},
      {"abs", 1, [](const Formulas& of, FormulaNames& n) { return std::fabs(of[0](n)); }},
      {"floor", 1, [](const Formulas& of, FormulaNames& n) { return std::floor(of[0](n)); }},
      {"fp16", 1,
       [](const Formulas& of, FormulaNames& n) {
         return static_cast<double>(to_half(static_cast<float>(of[0](n))));
       }},
      {"if", 3, [](const Formulas& of, FormulaNames& n) { return of[of[0](n) != 0 ? 1 : 2](n); }}};
  return all;
}

double element(FormulaNames& names, const std::string& array, const Formulas& indices) {
  const NamedArray* const found = value_in(names.arrays, array);
  if (found == nullptr) {
    throw RequestError(fmt::format("found '{}[...]'; allowed: an array of `inputs`", array));
  }
  if (indices.size() != found->shape.size()) {
    throw RequestError(fmt::format("found {} indices of '{}'; allowed: {}", indices.size(), array,
                                   found->shape.size()));
  }
  std::size_t at = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const double index = indices[d](names);
    if (!(index >= 0 && index < found->shape[d]) || index != std::floor(index)) {
      throw RequestError(fmt::format("found index {} of '{}'; allowed: a whole number below {}",
                                     index, array, found->shape[d]));
    }
    at = at * found->shape[d] + static_cast<std::size_t>(index);
  }
  return found->values[at];
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Formula whole() {
    Formula formula = binary(0);
    if (!rest().empty()) fail();
    return formula;
  }

 private:
  [[noreturn]] void fail() const {
    throw RequestError(fmt::format("found '{}', no formula{}; allowed: such as 2 * N + column",
                                   text_, at_ < text_.size() ? " from '" + rest() + "' on" : ""));
  }
  std::string rest() const { return text_.substr(at_); }

  bool take(const std::string& what) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (what.empty() || text_.compare(at_, what.size(), what) != 0) return false;
    at_ += what.size();
    take("");
    return true;
  }

  Formula binary(std::size_t level) {
    if (level == operators().size()) return unary();
    Formula left = binary(level + 1);
    while (const Operator* const found = operator_of(level)) {
      left = [a = std::move(left), b = binary(level + 1), compute = found->compute](
                 FormulaNames& names) { return compute(a(names), b(names)); };
    }
    return left;
  }
  const Operator* operator_of(std::size_t level) {
    for (const Operator& each : operators()[level]) {
      if (take(each.text)) return &each;
    }
    return nullptr;
  }

  Formula unary() {
    take("");
    if (take("-")) return [a = unary()](FormulaNames& names) { return -a(names); };
    if (take("(")) {
      Formula inner = binary(0);
      if (!take(")")) fail();
      return inner;
    }
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    if (at_ == text_.size() || !is_part(text_[at_])) fail();
    if (std::isalpha(static_cast<unsigned char>(text_[at_])) == 0) return constant();
    std::string name;
    while (at_ < text_.size() && is_part(text_[at_])) name += text_[at_++];
    take("");
    if (take("(")) return call(name);
    if (take("[")) {
      return [name, indices = list("]")](FormulaNames& names) {
        return element(names, name, indices);
      };
    }
    return [name](FormulaNames& names) { return names.number(name); };
  }

  Formula constant() {
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + at_, &end);
    const auto next = static_cast<std::size_t>(end - text_.c_str());
    if (next == at_) fail();
    at_ = next;
    take("");
    return [value](FormulaNames& /*names*/) { return value; };
  }

  Formulas list(const char* end) {
    Formulas parts;
    do parts.push_back(binary(0));
    while (take(","));
    if (!take(end)) fail();
    return parts;
  }

  Formula call(const std::string& name) {
    if (name == "sum") return sum();
    const Function* const found = find_named(functions(), name);
    if (found == nullptr) {
      throw RequestError(fmt::format("found '{}(...)'; allowed: {}, sum", name,
                                     fmt::join(names_in(functions()), ", ")));
    }
    Formulas arguments = list(")");
    if (arguments.size() != found->arguments) {
      throw RequestError(fmt::format("found {} arguments of {}; allowed: {}", arguments.size(),
                                     name, found->arguments));
    }
    return [of = std::move(arguments), compute = found->compute](FormulaNames& names) {
      return compute(of, names);
    };
  }

  Formula sum() {
    std::string counter;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) {
      counter += text_[at_++];
    }
    if (counter.empty() || !take(",")) fail();
    const Formulas parts = list(")");
    if (parts.size() != 2) fail();
    return [counter, parts](FormulaNames& names) {
      const auto [place, is_new] = names.numbers.try_emplace(counter, 0);
      const double outer = place->second;
      const double count = parts[0](names);
      double total = 0;
      for (double k = 0; k < count; ++k) {
        place->second = k;
        total += parts[1](names);
      }
      place->second = outer;
      if (is_new) names.numbers.erase(place);
      return total;
    };
  }

  const std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

double FormulaNames::number(const std::string& name) {
  asked_place = asked_place || name == "column" || name == "row";
  if (const double* const found = value_in(numbers, name)) return *found;
  const ParamBase* const parameter = parameters == nullptr ? nullptr : parameters->find(name);
  if (parameter != nullptr && parameter->is_plain()) {
    const std::string text = parameter->value_text();
    return text == "true" ? 1 : std::strtod(text.c_str(), nullptr);
  }
  std::vector<std::string> known;
  for (const auto& [each, value] : numbers) known.push_back(each);
  throw RequestError(
      fmt::format("found '{}'; allowed: {}, or a parameter of the machine such as scalar.loop{}",
                  name, fmt::join(known, ", "), hint_of(name, known)));
}

Formula parse_formula(const std::string& text) { return Parser(text).whole(); }

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "models/common/fp16.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna {
namespace {

using Pair = std::function<double(double, double)>;

struct Operator {
  std::string text;
  Pair compute;
};

/// Operators by precedence, the weakest first; of one level the longer texts
/// first.
const std::array<std::vector<Operator>, 3>& operators() {
  static const std::array<std::vector<Operator>, 3> all{
      {{{"==", std::equal_to<>()},
        {"!=", std::not_equal_to<>()},
        {"<=", std::less_equal<>()},
        {">=", std::greater_equal<>()},
        {"<", std::less<>()},
        {">", std::greater<>()}},
       {{"+", std::plus<>()}, {"-", std::minus<>()}},
       {{"*", std::multiplies<>()}, {"/", std::divides<>()}, {"%", [](double a, double b) {
                                                                return a - b * std::floor(a / b);
                                                              }}}}};
  return all;
}

Formula call(const std::string& name, const std::vector<Formula>& of) {
  static const std::map<std::string, Pair> of_two = {
      {"min", [](double a, double b) { return std::min(a, b); }},
      {"max", [](double a, double b) { return std::max(a, b); }}};
  static const std::map<std::string, double (*)(double)> of_one = {
      {"abs", std::fabs}, {"floor", std::floor}, {"fp16", [](double a) -> double {
                                                    return to_half(static_cast<float>(a));
                                                  }}};
  const Pair* const two = value_in(of_two, name);
  const auto* const one = value_in(of_one, name);
  if (two != nullptr && of.size() == 2) return [=] { return (*two)(of[0](), of[1]()); };
  if (one != nullptr && of.size() == 1) return [=] { return (*one)(of[0]()); };
  throw RequestError(
      fmt::format("found {}() of {}; allowed: min(a, b), max(a, b), abs(a), "
                  "floor(a), fp16(a), if(c, a, b), sum(k, n, a)",
                  name, of.size()));
}

class Reader {
 public:
  Reader(const std::string& text, FormulaNames& names) : text_(text), names_(names) {}

  Formula whole() {
    Formula value = binary(0);
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw RequestError(
        fmt::format("found '{}', no formula from '{}' on; allowed: such as "
                    "2 * N + column",
                    text_, text_.substr(at_)));
  }

  bool take(const std::string& what) {
    at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
    if (text_.compare(at_, what.size(), what) != 0) return false;
    at_ = std::min(text_.find_first_not_of(' ', at_ + what.size()), text_.size());
    return true;
  }
  void require(const char* what) {
    if (!take(what)) fail();
  }

  Formula binary(std::size_t level) {
    if (level == operators().size()) return unary();
    Formula value = binary(level + 1);
    const auto& known = operators().at(level);
    while (const Operator* const found =
               find_where(known, [&](const Operator& each) { return take(each.text); })) {
      value = [found, a = std::move(value), b = binary(level + 1)] {
        const double first = a();
        return found->compute(first, b());
      };
    }
    return value;
  }

  Formula unary() {
    if (take("-")) return [of = unary()] { return -of(); };
    if (take("(")) return list(")")[0];
    const std::size_t begin = at_;
    if (std::isalpha(at_ == text_.size() ? 0 : static_cast<unsigned char>(text_[at_])) != 0) {
      return named();
    }
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + begin, &end);
    at_ = static_cast<std::size_t>(end - text_.c_str());
    if (at_ == begin) fail();
    take("");
    return [value] { return value; };
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  Formula named() {
    const std::string what = name();
    FormulaNames& names = names_;
    if (take("[")) {
      return [&names, what, indices = list("]")] {
        std::vector<double> at;
        at.reserve(indices.size());
        for (const Formula& index : indices) at.push_back(index());
        return names.element(what, at);
      };
    }
    if (take("(")) {
      if (what == "if") return choice();
      return what == "sum" ? sum() : call(what, list(")"));
    }
    const bool place = what == "column" || what == "row";
    return [&names, &number = names.numbers[what], what, place] {
      names.asked_place = names.asked_place || place;
      return number ? *number : names.other(what);
    };
  }

  std::vector<Formula> list(const char* end) {
    std::vector<Formula> values{binary(0)};
    while (take(",")) values.push_back(binary(0));
    require(end);
    return values;
  }

  Formula part(const char* end) {
    Formula value = binary(0);
    require(end);
    return value;
  }

  Formula choice() {
    const Formula first = part(",");
    const Formula a = part(",");
    return [first, a, b = part(")")] { return first() != 0 ? a() : b(); };
  }

  Formula sum() {
    std::optional<double>& counter = names_.numbers[name()];
    require(",");
    const Formula count = part(",");
    return [&counter, count, term = part(")")] {
      const double most = count();
      const std::optional<double> outer = counter;
      double total = 0;
      double k = 0;
      while (k < most) {
        counter = k++;
        total += term();
      }
      counter = outer;
      return total;
    };
  }

  const std::string& text_;
  FormulaNames& names_;
  std::size_t at_ = 0;
};

}  // namespace

const Formula& FormulaNames::formula(const std::string& text) {
  Formula& known = read_[text];
  if (!known) known = Reader(text, *this).whole();
  return known;
}

void FormulaNames::forget() {
  for (auto& [name, number] : numbers) number.reset();
  arrays.clear();
  others.clear();
}

std::vector<std::string> FormulaNames::known() const {
  std::vector<std::string> all;
  for (const auto& [name, number] : numbers) {
    if (number) all.push_back(name);
  }
  return all;
}

double FormulaNames::other(const std::string& name) {
  if (const double* const found = value_in(others, name)) return *found;
  const ParamBase* const parameter = parameters == nullptr ? nullptr : parameters->find(name);
  if (parameter != nullptr && parameter->is_plain()) {
    const std::string text = parameter->value_text();
    return others[name] = text == "true" ? 1 : std::strtod(text.c_str(), nullptr);
  }
  throw RequestError(
      fmt::format("found '{}'; allowed: {}, or a parameter of "
                  "the machine such as scalar.loop{}",
                  name, fmt::join(known(), ", "), hint_of(name, known())));
}

double FormulaNames::element(const std::string& array, const std::vector<double>& indices) const {
  const NamedArray* const found = value_in(arrays, array);
  if (found == nullptr || indices.size() != found->shape.size()) {
    throw RequestError(fmt::format("found '{}' with {} indices; allowed: {}", array, indices.size(),
                                   found == nullptr
                                       ? "an array of `inputs`"
                                       : fmt::format("{} indices", found->shape.size())));
  }
  std::size_t at = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const bool inside = indices[d] >= 0 && indices[d] < found->shape[d];
    if (!inside || indices[d] != std::floor(indices[d])) {
      throw RequestError(fmt::format("found index {} of '{}'; allowed: 0 to {}", indices[d], array,
                                     found->shape[d] - 1));
    }
    at = at * found->shape[d] + static_cast<std::size_t>(indices[d]);
  }
  return found->values[at];
}

}  // namespace lacuna

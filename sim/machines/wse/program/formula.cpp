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

using Parts = std::vector<Formula>;

/// Functions by name and number of parts.
const auto& functions() {
  static const std::map<std::pair<std::string, std::size_t>, double (*)(const Parts&)> all = {
      {{"min", 2}, [](const Parts& of) { return std::min(of[0](), of[1]()); }},
      {{"max", 2}, [](const Parts& of) { return std::max(of[0](), of[1]()); }},
      {{"abs", 1}, [](const Parts& of) { return std::fabs(of[0]()); }},
      {{"floor", 1}, [](const Parts& of) { return std::floor(of[0]()); }},
      {{"fp16", 1}, [](const Parts& of) { return 1.0 * to_half(static_cast<float>(of[0]())); }},
      {{"if", 3}, [](const Parts& of) { return of[0]() != 0 ? of[1]() : of[2](); }}};
  return all;
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
    if (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) return named();
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + begin, &end);
    at_ = static_cast<std::size_t>(end - text_.c_str());
    if (at_ == begin) fail();
    take("");
    return [value] { return value; };
  }

  std::string name() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.0123456789", at_),
                   text_.size());
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
      return what == "sum" ? sum() : call(what);
    }
    const bool place = what == "column" || what == "row";
    return [&names, &number = names.numbers[what], what, place] {
      names.asked_place = names.asked_place || place;
      return number ? *number : names.other(what);
    };
  }

  Parts list(const char* end) {
    Parts values{binary(0)};
    while (take(",")) values.push_back(binary(0));
    if (!take(end)) fail();
    return values;
  }

  Formula call(const std::string& name) {
    Parts of = list(")");
    const auto* const known = value_in(functions(), std::pair(name, of.size()));
    if (known != nullptr) return [known, of = std::move(of)] { return (*known)(of); };
    throw RequestError(
        fmt::format("found {}() of {}; allowed: min(a, b), max(a, b), abs(a), floor(a), fp16(a), "
                    "if(c, a, b), sum(k, n, a)",
                    name, of.size()));
  }

  Formula sum() {
    std::optional<double>& counter = names_.numbers[name()];
    if (!take(",")) fail();
    const Parts of = list(")");
    if (of.size() != 2) fail();
    return [&counter, of] {
      const double most = of[0]();
      const std::optional<double> outer = counter;
      double total = 0;
      double k = 0;
      while (k < most) {
        counter = k++;
        total += of[1]();
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

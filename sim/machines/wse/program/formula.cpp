// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "models/common/fp16.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna {
namespace {

/// Operators by precedence, the weakest first; of one level the longer texts
/// first.
const std::array<std::vector<std::string>, 3> kOperators{
    {{"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}};

double compute(const std::string& what, double a, double b) {
  if (what == "+") return a + b;
  if (what == "-") return a - b;
  if (what == "*") return a * b;
  if (what == "/") return a / b;
  if (what == "%") return a - b * std::floor(a / b);
  if (what == "==") return a == b;
  if (what == "!=") return a != b;
  if (what == "<=") return a <= b;
  if (what == ">=") return a >= b;
  return what == "<" ? a < b : a > b;
}

double call(const std::string& name, const std::vector<double>& of) {
  const bool two = of.size() == 2;
  if (name == "min" && two) return std::min(of[0], of[1]);
  if (name == "max" && two) return std::max(of[0], of[1]);
  if (name == "abs" && of.size() == 1) return std::fabs(of[0]);
  if (name == "floor" && of.size() == 1) return std::floor(of[0]);
  if (name == "fp16" && of.size() == 1) return to_half(static_cast<float>(of[0]));
  throw RequestError(
      fmt::format("found {}() of {}; allowed: min(a, b), max(a, b), abs(a), "
                  "floor(a), fp16(a), if(c, a, b), sum(k, n, a)",
                  name, of.size()));
}

/// Computes while it reads.
class Reader {
 public:
  Reader(const std::string& text, FormulaNames& names) : text_(text), names_(names) {}

  double whole() {
    const double value = binary(0);
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

  double binary(std::size_t level) {
    if (level == kOperators.size()) return unary();
    double value = binary(level + 1);
    const auto& known = kOperators.at(level);
    while (const std::string* const found =
               find_where(known, [&](const std::string& each) { return take(each); })) {
      value = compute(*found, value, binary(level + 1));
    }
    return value;
  }

  double unary() {
    if (take("-")) return -unary();
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
    return value;
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  double named() {
    const std::string what = name();
    if (take("[")) {
      const std::vector<double> indices = list("]");
      return skips_ ? 0 : names_.element(what, indices);
    }
    if (!take("(")) return skips_ ? 0 : names_.number(what);
    if (what == "if") return choice();
    return what == "sum" ? sum() : call(what, list(")"));
  }

  std::vector<double> list(const char* end) {
    std::vector<double> values{binary(0)};
    while (take(",")) values.push_back(binary(0));
    require(end);
    return values;
  }

  double part(bool looked_at) {
    const bool before = skips_;
    skips_ = skips_ || !looked_at;
    const double value = binary(0);
    skips_ = before;
    return value;
  }

  double choice() {
    const bool first = binary(0) != 0;
    require(",");
    const double a = part(first);
    require(",");
    const double b = part(!first);
    require(")");
    return first ? a : b;
  }

  double sum() {
    const std::string counter = name();
    require(",");
    const double count = binary(0);
    require(",");
    const auto [place, is_new] = names_.numbers.try_emplace(counter, 0);
    const double outer = place->second;
    const std::size_t begin = at_;
    double total = 0;
    for (double k = 0; k == 0 || k < count; ++k) {
      at_ = begin;
      place->second = k;
      total += part(k < count);
    }
    place->second = outer;
    if (is_new) names_.numbers.erase(place);
    require(")");
    return count > 0 ? total : 0;
  }

  const std::string& text_;
  FormulaNames& names_;
  std::size_t at_ = 0;
  bool skips_ = false;  // what is read is not looked at
};

}  // namespace

double FormulaNames::number(const std::string& name) {
  asked_place = asked_place || name == "column" || name == "row";
  if (const double* const found = value_in(numbers, name)) return *found;
  if (const double* const found = value_in(others, name)) return *found;
  const ParamBase* const parameter = parameters == nullptr ? nullptr : parameters->find(name);
  if (parameter != nullptr && parameter->is_plain()) {
    const std::string text = parameter->value_text();
    return others[name] = text == "true" ? 1 : std::strtod(text.c_str(), nullptr);
  }
  std::vector<std::string> known;
  for (const auto& [each, value] : numbers) known.push_back(each);
  throw RequestError(
      fmt::format("found '{}'; allowed: {}, or a parameter of "
                  "the machine such as scalar.loop{}",
                  name, fmt::join(known, ", "), hint_of(name, known)));
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

double value_of(const std::string& formula, FormulaNames& names) {
  return Reader(formula, names).whole();
}

}  // namespace lacuna

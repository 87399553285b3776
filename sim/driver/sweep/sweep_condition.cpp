// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/sweep_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"

namespace lacuna {

/// An operator over its operands, or a word.
struct SweepCondition::Node {
  std::string word;  // operator, or the word itself if there are no operands
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = SweepCondition::Node;
using Tree = std::shared_ptr<const Node>;

Tree node(const std::string& word, std::vector<Tree> operands) {
  return std::make_shared<Node>(Node{word, std::move(operands)});
}

std::optional<double> number_of(const std::string& text) { return parsed_number<double>(text); }

/// Splits a condition into words, numbers and operators; a lone = or ! is for the parser to refuse.
std::vector<std::string> tokens_of(const std::string& text) {
  static const std::regex token(R"([=!<>]=|[=!<>()+*/-]|[^\s=!<>()+*/-][^\s=!<>()+*/]*)");
  return {std::sregex_token_iterator(text.begin(), text.end(), token), {}};
}

/// Operators between two operands, the loosest first; "not" stands before a comparison.
const std::array<std::vector<std::string_view>, 5> kLevels = {
    {{"or"}, {"and"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}}};
constexpr std::size_t kComparison = 2;

bool is_logic(std::string_view word) {
  return word == "not" || std::any_of(kLevels.begin(), kLevels.begin() + kComparison + 1,
                                      [&](const auto& level) { return contains(level, word); });
}

/// Recursive descent over the levels.
class Parser {
 public:
  Parser(const std::string& text, std::string place)
      : text_(text), place_(std::move(place)), tokens_(tokens_of(text)) {}

  Tree parse() {
    Tree tree = joined(0);
    if (next_ < tokens_.size()) refuse();
    return tree;
  }

 private:
  [[noreturn]] void refuse() const {
    const std::string found =
        next_ < tokens_.size() ? "'" + tokens_[next_] + "'" : std::string("its end");
    throw refused(
        "{}: the condition '{}' is not understood at {}; allowed: comparisons (==, !=, "
        "<, <=, >, >=) of values, words and numbers, joined by and, or, not",
        place_, text_, found);
  }

  bool take(std::string_view token) {
    const bool found = next_ < tokens_.size() && tokens_[next_] == token;
    if (found) ++next_;
    return found;
  }

  Tree joined(std::size_t level) {
    if (level == kLevels.size()) return factor();
    if (level == kComparison && take("not")) return node("not", {joined(level)});
    Tree tree = joined(level + 1);
    while (next_ < tokens_.size() && contains(kLevels.at(level), tokens_[next_])) {
      const std::string word = tokens_[next_++];
      tree = node(word, {tree, joined(level + 1)});
      if (level == kComparison) break;
    }
    return tree;
  }

  Tree factor() {
    if (next_ >= tokens_.size()) refuse();
    if (take("(")) {
      Tree tree = joined(0);
      if (!take(")")) refuse();
      return tree;
    }
    const std::string& token = tokens_[next_];
    if (token == "and" || token == "or" || token == "not" ||
        std::string("=!<>)+-*/").find(token[0]) != std::string::npos) {
      refuse();
    }
    ++next_;
    return node(token, {});
  }

  const std::string& text_;
  std::string place_;
  std::vector<std::string> tokens_;
  std::size_t next_ = 0;
};

/// A condition applied to one point.
struct Evaluation {
  const SweepCondition::Lookup& lookup;
  const std::string& text;
  const std::string& place;

  [[noreturn]] void refuse(const std::string& why) const {
    throw refused("{}: the condition '{}' {}", place, text, why);
  }

  std::string value(const Node& node) const {
    if (node.operands.empty()) return lookup(node.word).value_or(node.word);
    if (is_logic(node.word)) refuse("compares something that is no value");
    const double left = number(*node.operands[0]);
    const double right = number(*node.operands[1]);
    double result = 0;
    if (node.word == "+") result = left + right;
    if (node.word == "-") result = left - right;
    if (node.word == "*") result = left * right;
    if (node.word == "/") result = left / right;
    return fmt::format("{}", result);
  }

  double number(const Node& node) const {
    const std::string text_of_value = value(node);
    const std::optional<double> result = number_of(text_of_value);
    if (!result) refuse(fmt::format("needs a number where a point has '{}'", text_of_value));
    return *result;
  }

  /// True if a word of it is the name of a value.
  bool names(const Node& node) const {
    if (node.operands.empty()) return lookup(node.word).has_value();
    return any_of(node.operands, [&](const Tree& each) { return names(*each); });
  }

  bool equal(const Node& left, const Node& right) const {
    if (!names(left) && !names(right)) {
      refuse(fmt::format("compares '{}' with '{}', and neither names a value of a point",
                         value(left), value(right)));
    }
    const std::string a = value(left);
    const std::string b = value(right);
    const std::optional<double> x = number_of(a);
    const std::optional<double> y = number_of(b);
    return x && y ? *x == *y : a == b;
  }

  bool holds(const Node& node) const {
    if (!is_logic(node.word) || node.operands.empty()) {
      const std::string word = value(node);
      if (word != "true" && word != "false") refuse("is a value, and no comparison");
      return word == "true";
    }
    const Node& left = *node.operands[0];
    if (node.word == "not") return !holds(left);
    const Node& right = *node.operands[1];
    if (node.word == "and") return holds(left) && holds(right);
    if (node.word == "or") return holds(left) || holds(right);
    if (node.word == "==") return equal(left, right);
    if (node.word == "!=") return !equal(left, right);
    const double a = number(left);
    const double b = number(right);
    if (node.word == "<") return a < b;
    if (node.word == "<=") return a <= b;
    return node.word == ">" ? a > b : a >= b;
  }
};

void collect_words(const Node& node, std::set<std::string>& words) {
  for (const Tree& each : node.operands) collect_words(*each, words);
  if (node.operands.empty() && !number_of(node.word)) words.insert(node.word);
}

}  // namespace

SweepCondition::SweepCondition(std::string text, std::string place)
    : text_(std::move(text)), place_(std::move(place)) {
  root_ = Parser(text_, place_).parse();
}

std::set<std::string> SweepCondition::words() const {
  std::set<std::string> words;
  collect_words(*root_, words);
  return words;
}

bool SweepCondition::holds(const Lookup& lookup) const {
  return Evaluation{lookup, text_, place_}.holds(*root_);
}

}  // namespace lacuna

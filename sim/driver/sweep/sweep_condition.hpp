// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace lacuna {

/// A condition over the values of a point, such as `block <= 4 or density * block < 0.5`.
/// Comparisons == != < <= > >= of numbers, words and the names of values; + - * / of numbers;
/// and, or, not, parentheses. A word that names no value stands for itself: `pattern != dense`.
class SweepCondition {
 public:
  /// The text of a value, or nothing if the point has none of this name.
  using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

  /// RequestError, beginning with `place`, if `text` is no condition.
  SweepCondition(std::string text, std::string place);

  /// Whether it holds. RequestError if < or > compares with something that is no number. So is a
  /// value that this point does not have, and a comparison of words that name no value.
  bool holds(const Lookup& lookup) const;

  /// The words of it that are no numbers, names of values among them.
  std::set<std::string> words() const;

  const std::string& text() const { return text_; }

  const std::string& place() const { return place_; }

  struct Node;

 private:
  std::string text_;
  std::string place_;
  std::shared_ptr<const Node> root_;  // shared: conditions are copied, and never change
};

}  // namespace lacuna

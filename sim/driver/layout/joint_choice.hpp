// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace lacuna {

/// Chooses for each of several things one of its choices so that the sum of costs is least, where a
/// cost depends on the choices of a few of them: dynamic programming, one thing after the other
/// taken out (variable elimination). Costs that take long to find are asked for only where a choice
/// that would be the best of all depends on them.
class JointChoice {
 public:
  using Choices = std::vector<std::size_t>;

  /// A thing, by the cost of each of its choices. Its number is that of those before it.
  void add(std::vector<double> costs);

  /// What `things`, in ascending order, cost together, by the choice of each; never below 0.
  void add(std::vector<std::size_t> things, std::function<double(const Choices&)> cost);

  /// The choice of each thing; of equal sums the first by the last thing's choice.
  Choices solve();

  /// The sum that it has; how many costs were asked for.
  double total() const { return total_; }
  std::size_t asked() const { return asked_; }

 private:
  struct Cost {
    std::vector<std::size_t> things;
    std::function<double(const Choices&)> cost;
    std::map<Choices, double> known = {};
  };
  struct Table {
    std::vector<std::size_t> things;  // ascending
    std::vector<double> values;       // by their choices, that of the last the fastest
  };

  std::size_t place(const Table& table, const Choices& choices) const;
  Table table_of(const Cost& cost) const;
  Table take_out(std::size_t thing, const std::vector<Table>& tables,
                 std::vector<Table>& firsts) const;
  Choices least() const;
  bool ask(const Choices& choices);
  template <class Action>
  void for_each(const std::vector<std::size_t>& things, const Action& action) const;

  std::vector<std::vector<double>> own_;
  std::vector<Cost> costs_;
  double total_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace lacuna

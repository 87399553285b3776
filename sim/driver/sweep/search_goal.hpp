// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/sweep/search_order.hpp"
#include "sim/driver/sweep/sweep_condition.hpp"
#include "sim/driver/sweep/yaml_sweep.hpp"

namespace lacuna {

/// What a search makes small, and what a point must be.
class SearchGoal {
 public:
  /// RequestError of an objective that is none of `allowed`, which are those `of` what is run.
  SearchGoal(const SearchWords& words, const std::vector<std::string>& allowed,
             const std::string& of);

  const std::vector<Objective>& objectives() const { return objectives_; }
  const std::vector<SweepCondition>& conditions() const { return conditions_; }

  /// Whether a point is as subject_to has it, by its numbers.
  using Number = std::function<std::optional<double>(const std::string& name)>;
  bool is_met(const Number& number) const;

  /// The objectives of a point.
  std::vector<double> values(double seconds, double joules, double mm2) const;

 private:
  std::vector<Objective> objectives_;
  std::vector<SweepCondition> conditions_;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/search_goal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/contains.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"

namespace lacuna {

SearchGoal::SearchGoal(const SearchWords& words, const std::vector<std::string>& allowed,
                       const std::string& of) {
  for (const SearchWords::Word& each : words.minimise) {
    const std::optional<Objective> objective = objective_of(each.text);
    if (!objective || !contains(allowed, each.text)) {
      throw refused("{}: minimise: found '{}'; allowed{}: {}{}", each.place, each.text, of,
                    fmt::join(allowed, ", "), hint_of(each.text, allowed));
    }
    objectives_.push_back(*objective);
  }
  for (const SearchWords::Word& each : words.subject_to) {
    conditions_.emplace_back(each.text, each.place);
  }
}

bool SearchGoal::is_met(const Number& number) const {
  return all_of(conditions_, [&](const SweepCondition& each) {
    return each.holds([&](const std::string& name) -> std::optional<std::string> {
      const std::optional<double> value = number(name);
      return value ? std::optional(fmt::format("{:.17g}", *value)) : std::nullopt;
    });
  });
}

std::vector<double> SearchGoal::values(double seconds, double joules, double mm2) const {
  std::vector<double> values;
  for (const Objective objective : objectives_) {
    values.push_back(objective == Objective::time           ? seconds
                     : objective == Objective::energy       ? joules
                     : objective == Objective::energy_delay ? joules * seconds
                     : objective == Objective::area         ? mm2
                                                            : mm2 * seconds);
  }
  return values;
}

}  // namespace lacuna

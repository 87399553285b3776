// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/energy/action_table.hpp"
#include "models/energy/energy_table.hpp"
#include "sim/driver/run/area.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// The prices of a configuration folder, with the set of them that published power leaves.
EnergyTable shipped_prices(const std::filesystem::path& folder);

/// Prices finished operations with the tables of a configuration folder.
class Pricing {
 public:
  /// `user_table` has prices in place of those of the folder; RequestError if it is no such table.
  explicit Pricing(const std::filesystem::path& folder,
                   const std::optional<std::string>& user_table = std::nullopt);

  /// Adds silicon and energy of `op`, which is ok, to its row and to its parts.
  void price(const Machine& machine, OpRecord& op) const {
    price(machine.kind(), machine.energy(), areas_.unit(machine), op);
  }
  void price(const std::string& kind, const EnergyParams& params,
             const std::optional<UnitSilicon>& silicon, OpRecord& op) const;

  /// Adds what each unit of `series` took in `cycles`, nominal, in pJ, and forgets its counters.
  void price_units(const Machine& machine, const OpResult& result, Cycle cycles,
                   UnitSeries& series) const;

  /// The actions of one unit of the machine in its busiest cycle.
  UnitCycle busiest_cycle(const Machine& machine) const {
    return actions_.unit(machine.kind()).peak_cycle(machine.energy());
  }

  /// Areas of chips. A run's area is kept in its record.
  const Areas& areas() const { return areas_; }

  /// Prices a finished run anew, by its counters and parameters alone.
  void reprice(RunRecord& run) const;

  /// All prices, as text: what joules depend on beside counters and parameters.
  std::string text() const { return table_.text(); }

  /// Events whose prices the user's table leaves to the shipped one; empty if there is none.
  const std::vector<std::string>& taken_from_shipped() const { return table_.taken_from_shipped(); }

 private:
  EnergyTable table_;
  ActionTable actions_;
  Areas areas_;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "models/energy/action_table.hpp"
#include "models/energy/energy_table.hpp"
#include "sim/driver/machine.hpp"
#include "sim/report/summary.hpp"

namespace lacuna {

/// Prices finished operations with the tables of a configuration folder.
class Pricing {
 public:
  explicit Pricing(const std::filesystem::path& folder);

  /// Adds the energy of `op`, which is ok, to its row and to its parts.
  void price(const Machine& machine, OpRecord& op) const;

 private:
  EnergyTable table_;
  ActionTable actions_;
};

}  // namespace lacuna

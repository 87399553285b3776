// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/energy/energy_model.hpp"

namespace lacuna {

/// A finished run as pricing sees it.
struct EnergyRun {
  std::vector<StatEntry> statistics;
  EnergyInput input;
};

/// How far the estimate of one event can move a ratio of energies.
struct EnergyMover {
  std::string event;
  double least = 0;  // ratio with this event alone at its low or high
  double most = 0;

  double span() const { return most - least; }
};

/// What a ratio of two runs' energies rests on.
struct EnergyComparison {
  double nominal = 0;  // energy of the one over energy of the other
  double least = 0;    // over all events, each moved alone to its low and to its high
  double most = 0;
  std::vector<EnergyMover> movers;  // those that move it, the strongest first

  /// True if the ratio stays on one side of 1 and within a tenth of its nominal value: only then
  /// may it be claimed without its range.
  bool robust() const;
};

/// The energy of `one` over that of `other`, on one chip.
EnergyComparison compare_energy(const EnergyTable& table, const ActionTable& actions,
                                const std::string& machine, const EnergyParams& params,
                                const EnergyRun& one, const EnergyRun& other);

}  // namespace lacuna

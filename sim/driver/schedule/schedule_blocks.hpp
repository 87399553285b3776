// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// What one machine made of a schedule: the simulated products over all steps of training.
struct MachineTotals {
  std::string machine;
  double seconds = 0;
  double dense_seconds = 0;
  double joules = 0;
  double dense_joules = 0;
  bool whole = true;  // everything ran
};

/// A schedule with blocks of one size, on all machines.
struct BlockOutcome {
  std::uint32_t block = 1;
  double flop = 0;  // of the training of the whole encoder with one sequence
  double dense_flop = 0;
  double steps = 0;
  std::optional<double> loss;        // published, not simulated
  std::optional<double> dense_loss;  // published for a dense model of as many FLOP
  std::vector<MachineTotals> machines;
};

/// Fills in the published losses of dynamic sparse `model` at `density`, of the points that ship;
/// a block or model that was not measured stays without.
void add_published_losses(const std::string& model, double density,
                          std::vector<BlockOutcome>& outcomes);

/// A table with a row for each block and machine, and what it shows, in words.
std::string blocks_table(const std::vector<BlockOutcome>& outcomes);

/// Published loss against what a step costs, dense being 1: in FLOP, and in simulated time and
/// energy of each machine. None where nothing was published.
Figures blocks_figures(const std::vector<BlockOutcome>& outcomes);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/ipu/ipu_chip.hpp"
#include "sim/report/explanation.hpp"

namespace lacuna {

/// A finished run of a chip, and what was known of its program beforehand.
struct IpuExplainInput {
  const ipu::IpuChip& chip;
  ipu::VertexCosts& costs;
  const ipu::ChipParams& params;
  const ipu::Program& program;
  Cycle cycles = 0;                                               // of the run
  std::uint64_t tile_bytes = 0;                                   // that the fullest tile needs
  const std::vector<std::pair<std::string, std::string>>& notes;  // of the plan
  const std::vector<std::pair<std::string, Cycle>>& estimates;    // by phase, the last of all
};

/// The plan, the phases with their cycles, the busiest tile and why, the planner's estimate against
/// the simulation, and maps of the tiles' load on the die.
Explanation explain_ipu(const IpuExplainInput& input);

}  // namespace lacuna

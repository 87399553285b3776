// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/task_outcome.hpp"
#include "sim/report/explanation.hpp"

namespace lacuna {

/// What --explain keeps of a stage of a program of tasks: its last core, and the load of all.
struct WseTaskStage {
  std::string name;
  Cycle cycles = 0;         // of one time
  std::uint64_t times = 1;  // that it is done, one after the other
  std::uint32_t row = 0;    // of the core that ends last
  std::uint32_t column = 0;
  wse::TaskCounters core;
  double mean_issued = 0;          // cycles of a core of its part
  std::uint64_t most_issued = 0;   // by the busiest
  std::uint64_t fullest_link = 0;  // words that the fullest link between routers carried
  std::uint32_t columns = 0;       // of the part
  std::vector<double> issued;      // by core of the part, row-major
  std::vector<double> hops;        // words that left a core's router for others
};

/// A part of a stage whose north-west core is (`row`, `column`) of the wafer.
WseTaskStage observe_stage(std::string name, const wse::TaskProgram& part,
                           const wse::TaskOutcome& run, std::uint64_t times, std::uint32_t row,
                           std::uint32_t column);

/// Which stage took longest, which core ended it, and what that core's cycles went to.
Explanation explain_tasks(const std::vector<WseTaskStage>& stages);

}  // namespace lacuna

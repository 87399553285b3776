// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// A row of off_chip.csv: what lies beyond a chip.
struct OffChip {
  std::string name;                   // of a preset, or of hardware that is not simulated
  std::string kind;                   // dram, io or reference
  double gbps = 0;                    // for each chip
  std::optional<double> fp16_tflops;  // of references
  std::string what;
  std::string source;
};

/// The rows of off_chip.csv of the configuration folder; none if it has no such file. RequestError
/// names file, line and column of what is wrong.
std::vector<OffChip> read_off_chip();

/// What the references give for each FLOP, for figures.
std::vector<ReferenceMemory> reference_memories(const std::vector<OffChip>& rows);

}  // namespace lacuna

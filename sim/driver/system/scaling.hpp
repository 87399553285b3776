// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/system/job.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// One training on one of several systems.
struct ScalingRow {
  std::string system;
  system::TrainingParams training;
  double seconds = 0;  // of a weight update
  double sequences_per_s = 0;
  double efficiency = 1;  // sequences/s of a chip, by those of a chip of the first system
  double joules_per_sequence = 0;
  std::optional<TrustErrors> trust = {};  // of the time of its weight update
};

/// The same training on another system: as many replicas as it has room for, and as many
/// accumulations as keep the batch. State and weights that all replicas shared are shared by all.
/// RequestError if a replica has more chips than the system, or the batch does not come out even.
system::TrainingParams spread_over(const system::TrainingParams& training, unsigned chips);

std::string scaling_text(const std::string& name, const std::vector<ScalingRow>& rows);
std::string scaling_csv(const std::vector<ScalingRow>& rows);

/// Sequences/s against chips, beside what the first system's would be of more chips.
Figure scaling_figure(const std::string& name, const std::vector<ScalingRow>& rows);

}  // namespace lacuna

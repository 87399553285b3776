// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/result/result_json.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// The same work on one of several systems, whatever joins its chips.
struct ScalingRow {
  std::string system;
  std::uint64_t chips = 0;
  double seconds = 0;                     // of a step
  double each = 1;                        // sequences or shares that a step does
  double joules = 0;                      // of a step
  std::optional<TrustErrors> trust = {};  // of the time of a step
  std::string replicas = {};              // of a batch that is cut: how
  std::string accumulation = {};

  double rate() const { return each / seconds; }
};

/// What several systems do of the same work.
struct Scaling {
  std::string name;                // of table and figure
  std::vector<std::string> title;  // of the figure; the first line also above the table
  std::string each;                // what is counted: "sequence" or "share"
  std::vector<ScalingRow> rows;

  bool is_cut() const { return !rows.front().replicas.empty(); }

  /// What a chip does in a second, by a chip of the first system.
  double efficiency(const ScalingRow& row) const;
};

/// The same training on another system: as many replicas as it has room for, and as many
/// accumulations as keep the batch. State and weights that all replicas shared are shared by all.
/// RequestError if a replica has more chips than the system, or the batch does not come out even.
system::TrainingParams spread_over(const system::TrainingParams& training, unsigned chips);

NamedTable scaling_table(const Scaling& scaling);
std::string scaling_text(const Scaling& scaling);

/// What is done in a second against chips, beside what the first system's would be of more chips.
Figure scaling_figure(const Scaling& scaling);

}  // namespace lacuna

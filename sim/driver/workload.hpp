// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/options.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The workload of --trace, --gemm or --matrix; RequestError unless exactly one is given.
WorkloadTrace load_workload(const Options& options);

/// A pattern for the weights of a whole workload: nothing leaves each row its own.
struct PatternChoice {
  std::string label;  // as given, empty for the workload's own without being asked
  std::optional<PatternSpec> pattern;
};

/// The patterns of --pattern, or of --density, --block and --nm; at least one.
std::vector<PatternChoice> pattern_choices(const Options& options);

/// `workload` with the pattern in all its gemm rows, and --mode, --dtype and --partials. Every
/// problem of a row with the pattern is a RequestError.
WorkloadTrace settle(const WorkloadTrace& workload, const PatternChoice& choice,
                     const Options& options);

/// RequestError if --mode is no mode, or is given where nothing is sparse.
void check_mode(const std::vector<WorkloadTrace>& workloads, const Options& options);

}  // namespace lacuna

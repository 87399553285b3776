// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/run/options.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// RequestError if the trace or matrix can be read once only, as a pipe can.
void check_is_file(const Options& options);

/// What is to be said of the stored zeros of --matrix, which are kept; empty if it has none.
std::string stored_zeros(const Options& options);

/// The workload of --trace, --gemm, --matrix or --program; RequestError unless exactly one is
/// given.
WorkloadTrace load_workload(const Options& options);

/// A pattern for the weights of a whole workload: nothing leaves each row its own.
struct PatternChoice {
  std::string label;  // as given, empty for the workload's own without being asked
  std::optional<PatternSpec> pattern;
};

/// The patterns of --pattern, or of --density, --block and --nm; at least one.
std::vector<PatternChoice> pattern_choices(const Options& options);

/// Rows that have the mask of weights get all of them. A gradient at the places of such a mask
/// becomes the product of two activations that it is of dense weights.
WorkloadTrace with_all_weights(WorkloadTrace workload);

/// `workload` with the pattern in all its gemm rows, --mode in those that are sparse then, and
/// --residency, --dtype and --partials. Every problem of a row with the pattern is a RequestError.
WorkloadTrace settle(const WorkloadTrace& workload, const PatternChoice& choice,
                     const Options& options);

/// Where nothing in any of the settled workloads is sparse, --mode is meant for their dense
/// products with weights: gives it to them. RequestError if it is no mode.
void settle_mode(std::vector<WorkloadTrace>& workloads, const Options& options);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// `result` of one execution, executed `repeat` times one after the other. Peaks, events and the
/// check of values stay those of one.
OpResult repeated(OpResult result, std::uint64_t repeat);

/// The cells of a row that are known before the operation runs. `mask` is null for dense.
SummaryRow describe_op(const LayerOp& op, const Mask* mask, Mode default_mode);

/// Fills in what `result`, of all executions, says.
void add_result(SummaryRow& row, const OpResult& result);

/// Fills in the rates that follow from counts and time.
void add_rates(SummaryRow& row);

/// Fills in energy, of all executions.
void add_energy(SummaryRow& row, const JouleRange& joules);

/// Fills in the silicon of the simulated units, and the rate for each mm2 of it; 0: not known.
void add_silicon(SummaryRow& row, double mm2);

/// The row TOTAL of `ops`: what they have in common, and their sums. If one is not ok, neither is
/// the total, and it has no values.
SummaryRow total_of(const std::vector<OpRecord>& ops);

}  // namespace lacuna

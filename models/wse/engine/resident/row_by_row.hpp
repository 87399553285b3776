// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Runs a streaming program as simulate() does, with the same counters, but one row of the wafer
/// after the other: the copies that a row sends south, and when, are what the row below gets. That
/// is the run of the whole wafer if no copy ever meets a closed link, because then nothing goes
/// north. nullopt if one does, or if the program or `options` ask for more than counters of a
/// product, or let rows depend on each other otherwise. Holds the state of one row at a time.
std::optional<WaferOutcome> simulate_row_by_row(const HardwareParams& params,
                                                const Program& program, const RunOptions& options);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Runs a streaming program whose rows all differ, because their cores hold elements one by one:
/// each row in lanes and in its own time, as far ahead of the row behind as is known that this one
/// takes its copies. A row that runs on for long stays in the caches of the host. The outcome is
/// simulate()'s; nothing if lanes cannot stand for the program or `options` ask for more than its
/// counters. Throws DeadlockError.
std::optional<WaferOutcome> simulate_rows_ahead(const HardwareParams& params,
                                                const Program& program, const RunOptions& options);

/// Whether lanes can stand for the program, whose cores hold elements one by one.
bool can_run_ahead(const HardwareParams& params, const Program& program);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "models/wse/engine/gradient_fold.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Runs a weight gradient row by row in lanes. No row repeats another, because sums run down the
/// columns and come later to each, so all rows are stepped; but each as a whole. The outcome is
/// simulate()'s without event log and values; nothing if the program or the hardware is not of the
/// kind that can be swept. Throws DeadlockError.
std::optional<WaferOutcome> run_gradient_rows(const HardwareParams& params, const Program& program);

/// Runs a program with one row for all that do the same; nothing if that cannot be done. Throws
/// DeadlockError.
std::optional<SweptGradient> fold_gradient(const HardwareParams& params, const Program& program);

/// Why rows of a weight gradient are simulated one by one, seen from the program, the hardware and
/// the options; empty if rows may stand for others.
std::string reason_not_to_fold_gradient(const HardwareParams& params, const Program& program,
                                        const RunOptions& options);

/// Runs a program folded, or else as a sweep of all rows; nothing if that cannot be done either.
std::optional<SweptGradient> sweep_gradient(const HardwareParams& params, const Program& program,
                                            const RunOptions& options);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/run_options.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What a run of a weight gradient gave.
struct GradientInLanes {
  WaferOutcome outcome;
  std::uint32_t streamed = 0;  // rows whose stream and ring stood for all
};

/// Runs a weight gradient whose dot products are kept, one row for all that do the same: while the
/// stream runs, rows of equal tokens repeat each other, a hop later each, as in weight streaming;
/// when words of the chain pass a row follows from when they leave the wafer. Nothing if that
/// cannot be, or if rows part in another way than can be followed. Throws DeadlockError.
std::optional<GradientInLanes> fold_gradient(const HardwareParams& params, const Program& program,
                                             const RunOptions& options);

/// Why rows of a weight gradient are simulated one by one, seen from the program, the hardware and
/// the options; empty if rows may stand for others.
std::string reason_not_to_fold_gradient(const HardwareParams& params, const Program& program,
                                        const RunOptions& options);

}  // namespace lacuna::wse

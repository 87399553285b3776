// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/wse/engine/fold.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/row_marks.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What lanes gave: the rows that did things of their own, and which rows each stands for.
struct LanesOutcome {
  FoldPlan fold;
  WaferOutcome kept;
  std::uint32_t groups = 0;  // of rows that did the same: so many were simulated
  WaferMarks marks;          // if RunOptions::marks asks for them
};

/// Why lanes cannot stand for the cores of a streaming program; empty if they can.
std::string reason_against_stream_lanes(const HardwareParams& params, const Program& program);

/// Runs a weight-streaming program as one row of lanes for each group of rows that do the same: the
/// outcome unfolds to simulate()'s in everything but the event log. At first these are the rows
/// whose tokens take equal times: they repeat the first, a hop later each, while no copy to the
/// south meets a closed link. When one does, the row that sends it leaves its group and is
/// simulated by itself; doc/model/wafer_folding.md has the proof. Each row is simulated by itself
/// if not to be folded, if it carries values, and if its cores hold elements one by one. Nothing if
/// there is a reason not to, which `refused` is told. Throws DeadlockError, or CycleLimitPassed as
/// soon as it is known to take more than the options' limit.
std::optional<LanesOutcome> stream_in_lanes(const HardwareParams& params, const Program& program,
                                            const RunOptions& options,
                                            std::string* refused = nullptr);

}  // namespace lacuna::wse

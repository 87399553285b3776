// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

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

/// Runs a weight-streaming program as one row of lanes for each group of rows that do the same.
/// At first these are the rows of equal tokens: they repeat the first, a hop later each, while no
/// copy to the south meets a closed link. When one does, the row that sends it leaves its group
/// and is simulated by itself; doc/model/wafer_folding.md has the proof.
class StreamingLanes {
 public:
  StreamingLanes() = default;
  StreamingLanes(const StreamingLanes&) = delete;
  StreamingLanes& operator=(const StreamingLanes&) = delete;
  virtual ~StreamingLanes() = default;

  /// The outcome of `program`, which unfolds to simulate()'s in everything but the event log.
  /// Throws DeadlockError, or CycleLimitPassed as soon as it is known to take more than `limit`.
  virtual LanesOutcome run(Cycle limit) = 0;
  LanesOutcome run() { return run(kNever); }
};

/// Whether lanes can stand for the cores of a streaming program.
bool lanes_can_run(const HardwareParams& params, const Program& program);

/// Null if they cannot. Each row is simulated by itself if not to be folded (`fold`), if it carries
/// values, and if its cores hold elements one by one. `marks`: RunOptions::marks.
std::unique_ptr<StreamingLanes> make_streaming_lanes(const HardwareParams& params,
                                                     const Program& program, bool fold = true,
                                                     Cycle marks = 0);

/// Runs a program in lanes; nothing if that cannot be done.
std::optional<LanesOutcome> stream_in_lanes(const HardwareParams& params, const Program& program,
                                            const RunOptions& options);

}  // namespace lacuna::wse

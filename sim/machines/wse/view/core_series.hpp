// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/fold.hpp"
#include "models/wse/row_marks.hpp"
#include "models/wse/task_outcome.hpp"
#include "models/wse/wafer.hpp"
#include "sim/report/unit_series.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {

/// A finished run of a streamed product whose rows were marked every `length` cycles.
struct MarkedRun {
  const wse::StreamingPlan& plan;
  const wse::HardwareParams& hardware;
  const wse::WaferOutcome& kept;
  const wse::FoldPlan& fold;
  const wse::WaferMarks& marks;
  Cycle length;
  bool resident;  // the streamed operand is X
};

/// What each core did, in steps of its row's own time: rows that are alike are stored once.
UnitSeries core_series(const MarkedRun& run);

/// What each core had done by a cycle: how it spent its cycles, by wse::TaskCycle, then the words
/// it put on the ramp, those it took, and the instructions it started.
struct TaskMark {
  static constexpr std::size_t kCounts = wse::kTaskCycles + 3;
  Cycle at = 0;
  std::vector<std::array<std::uint64_t, kCounts>> cores;
};
TaskMark task_mark(Cycle at, const wse::TaskOutcome& so_far);

/// The series of `marks` of all steps, without energy, and of routers at the end.
UnitSeries series_of_marks(const std::vector<TaskMark>& marks,
                           const std::vector<wse::RouterCounters>& routers, std::uint32_t columns);

/// What the cores of a weight gradient had counted at the ends of steps but the last; `run` is the
/// whole.
struct GradientMark {
  Cycle at = 0;
  std::vector<wse::CoreCounters> cores;
};
UnitSeries gradient_series(std::vector<GradientMark> marks, const wse::WaferOutcome& run,
                           const wse::Program& program, const wse::HardwareParams& hardware);

/// The cycles of a step, so that about `steps` of them make `cycles`.
inline Cycle step_length(Cycle cycles, std::uint64_t steps) {
  return steps == 0 || cycles == 0 ? 1 : (cycles + steps - 1) / steps;
}

}  // namespace lacuna

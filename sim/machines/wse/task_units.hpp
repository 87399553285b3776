// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/wse/task_outcome.hpp"
#include "models/wse/wafer.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/report/critical_path.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What a page of --view is to have of a program of tasks.
struct TaskView {
  std::uint64_t steps = 0;         // about so many; 0: no page
  std::optional<PathWindow> path;  // a window whose critical path is wanted
};

/// Runs a program again, now that its cycles are known, and looks at its cores after each step.
/// Each core stands for `copies`. Without the path of `view`.
UnitSeries units_of_tasks(const WseParams& params, const wse::TaskProgram& program, Cycle cycles,
                          std::uint64_t copies, wse::RunOptions options, std::uint64_t steps);

/// Runs a program once more with records of `window`, which lies in it, and walks back through
/// them.
CriticalPath path_of_tasks(const WseParams& params, const wse::TaskProgram& program,
                           const PathWindow& window, const wse::RunOptions& options);

}  // namespace lacuna

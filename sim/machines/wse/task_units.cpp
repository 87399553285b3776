// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/task_units.hpp"

#include <utility>
#include <vector>

#include "models/wse/fabric/queue.hpp"
#include "models/wse/row_marks.hpp"
#include "models/wse/simulate.hpp"
#include "sim/machines/wse/view/core_series.hpp"
#include "sim/machines/wse/view/critical_path.hpp"

namespace lacuna {

UnitSeries units_of_tasks(const WseParams& params, const wse::TaskProgram& program, Cycle cycles,
                          std::uint64_t copies, wse::RunOptions options, std::uint64_t steps) {
  const Cycle length = step_length(cycles, steps);
  std::vector<TaskMark> marks;
  options.event_log = false;
  options.first_look = length;
  options.look_at_tasks = [&](Cycle at, const wse::TaskOutcome& so_far) {
    wse::require_marks((marks.size() + 1) * so_far.cores.size());
    if (at < cycles) marks.push_back(task_mark(at, so_far));
    return at + length;
  };
  const wse::TaskOutcome run = wse::simulate(params.task_hardware(), program, options);
  return task_series(std::move(marks), run, program.columns, copies);
}

CriticalPath path_of_tasks(const WseParams& params, const wse::TaskProgram& program,
                           const PathWindow& window, const wse::RunOptions& options) {
  wse::TaskOutcome recorded =
      wse::simulate(params.task_hardware(), program,
                    with_records(options, window, program.columns, program.rows));
  require_records(recorded.events_left_out);
  const wse::QueueShapes shapes(params.router);
  constexpr std::int64_t kNothingEnters = -1;
  return critical_path(window, {std::move(recorded.events), program.columns, program.rows,
                                shapes.link().latency, shapes.ramp_up().latency, kNothingEnters});
}

}  // namespace lacuna

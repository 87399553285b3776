// SPDX-License-Identifier: Apache-2.0
#include "models/wse/simulate.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "models/wse/engine/fold.hpp"
#include "models/wse/engine/module_wafer.hpp"
#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/engine/tasks/repeated_lines.hpp"
#include "models/wse/lanes/lane_wafer.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {

WaferOutcome simulate(const HardwareParams& params, const Program& program,
                      const RunOptions& options) {
  if (options.lanes) {
    if (const std::optional<LanesOutcome> lanes = stream_in_lanes(params, program, options)) {
      return unfold(lanes->kept, lanes->fold, program, params.router);
    }
  }
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  clock.shuffle(options.shuffle);
  const std::unique_ptr<CountedWafer> wafer =
      options.modules ? make_modules(params, program, clock, options)
                      : std::make_unique<Wafer>("wafer", params, program, clock, options);
  if (options.look) {
    clock.watch(options.first_look, [&](Cycle at) { return options.look(at, *wafer); });
  }
  WaferOutcome outcome;
  if (options.cycles != kNever) {
    outcome.cycles = options.cycles;
    clock.run(options.cycles);
    wafer->flush(options.cycles);
    wafer->take_events(outcome);
    return outcome;
  }
  const Cycle end = wafer->done() ? 0 : clock.run_until_done();
  wafer->settle(end);
  outcome = wafer->counts_so_far(end);
  for (std::size_t i = 0; i < wafer->size() && !program.kernel.activations.empty(); ++i) {
    const Place<LaneCores> unit = wafer->place(i);
    outcome.results.push_back(unit.cores.result(unit.number));
    if (program.kernel.exchange.on()) outcome.taken.push_back(unit.cores.taken(unit.number));
  }
  wafer->take_events(outcome);
  sort_events(outcome.events);
  return outcome;
}

namespace {

/// From so many cores on the rows and columns that repeat are looked for before lanes are tried.
constexpr std::size_t kManyCores = 32768;

std::optional<TaskOutcome> in_lanes(const TaskParams& params, const TaskProgram& program) {
  lanes::LaneRun run = lanes::simulate_lanes(params, program);
  if (!run.refused.empty()) return std::nullopt;
  return std::move(run.outcome);
}

}  // namespace

TaskOutcome simulate(const TaskParams& params, const TaskProgram& program,
                     const RunOptions& options) {
  require_queues(params, program);
  if (options.modules) return simulate_task_modules(params, program, options);
  const bool plain = options.engine == Engine::event && !options.event_log && options.jitter == 0 &&
                     options.shuffle == 0 && !options.look_at_tasks;
  if (!plain) return simulate_rows(params, program, options);
  const auto folded = [&]() -> std::optional<TaskOutcome> {
    if (!options.fold) return std::nullopt;
    return simulate_repeated(params, program, options);
  };
  const bool many = program.core_of.size() > kManyCores;
  std::optional<TaskOutcome> fast = many ? folded() : in_lanes(params, program);
  if (!fast) fast = many ? in_lanes(params, program) : folded();
  return fast ? std::move(*fast) : simulate_rows(params, program, options);
}

}  // namespace lacuna::wse

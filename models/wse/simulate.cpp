// SPDX-License-Identifier: Apache-2.0
#include "models/wse/simulate.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
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

/// Why a run of tasks is the definition's, or is looked at where it goes.
const char* reason_for_units(const RunOptions& options) {
  if (options.engine != Engine::event) return "the clocked engine is the definition";
  return options.shuffle != 0 ? "units are stepped in another order" : options.for_units();
}

}  // namespace

TaskOutcome simulate(const TaskParams& params, const TaskProgram& program,
                     const RunOptions& options) {
  require_queues(params, program);
  const std::string units = reason_for_units(options);
  const bool many = program.core_of.size() > kManyCores;
  std::string against;
  for (const bool lanes : {!many, many}) {
    Attempt attempt;
    if (!units.empty()) {
      attempt.refused = units;
    } else if (lanes) {
      attempt = lanes::simulate_lanes(params, program);
    } else {
      attempt = simulate_repeated(params, program, options);
    }
    const char* const name = lanes ? "in lanes" : "lines that repeat once";
    attempt.outcome.strategy = name + against;
    if (attempt.refused.empty()) return std::move(attempt.outcome);
    against += fmt::format("; not {}: {}", name, attempt.refused);
  }
  TaskOutcome outcome = options.modules ? simulate_task_modules(params, program, options)
                                        : simulate_rows(params, program, options);
  outcome.strategy = "unit by unit" + against;
  return outcome;
}

}  // namespace lacuna::wse

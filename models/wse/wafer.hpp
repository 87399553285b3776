// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "models/wse/edge/edge.hpp"
#include "models/wse/edge/injector.hpp"
#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/engine/pe_row.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/program.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

class CountedWafer;
struct TaskOutcome;

/// How a program is simulated; see lacuna::Execution.
struct RunOptions {
  Engine engine = Engine::event;
  std::uint64_t shuffle = 0;
  Cycle jitter = 0;
  std::uint64_t jitter_seed = 1;
  bool event_log = false;
  EventScope event_scope = {kPlainEvents};
  bool sweep = false;     // Engine::event may take a StreamingSweep, where it can; not with a log
  bool modules = false;   // a SystemC module for each router and core
  bool fold = true;       // a sweep simulates rows that are proven alike once
  Cycle cycles = kNever;  // a run of units with a log may end before its program
  Cycle limit = kNever;   // a sweep that takes longer is given up: CycleLimitPassed
  Cycle marks = 0;        // a sweep notes what cores have counted every so many cycles; 0: not

  /// Called as ClockDomain::watch has it, the first time at `first_look`: `look` of wafers without
  /// a sweep, `look_at_tasks` of cores that run tasks with what they have done so far.
  Cycle first_look = kNever;
  std::function<Cycle(Cycle at, CountedWafer& wafer)> look = {};
  std::function<Cycle(Cycle at, const TaskOutcome& so_far)> look_at_tasks = {};
};

/// What the cores and routers of one row have counted, and when each core ended: kNever if it has
/// not yet.
struct RowCounts {
  CoreCounters core;
  RouterCounters router;
  std::vector<Cycle> ends;
};

/// Cores that run the kernel of `program`, none yet.
std::unique_ptr<CoreArray> make_cores(const HardwareParams& params, const Program& program,
                                      LinkArray& links, EventLog& log);

/// What a run of a program gave: counters by core, row-major, and by column.
struct WaferOutcome {
  Cycle cycles = 0;
  std::vector<CoreCounters> cores;
  std::vector<RouterCounters> routers;
  std::vector<InjectorCounters> injectors;
  std::vector<Event> events;                          // sorted by cycle, unit, kind and argument
  bool events_left_out = false;                       // there were more than its scope has
  std::vector<std::vector<float>> results;            // Y of each core; with values only
  std::vector<std::vector<std::uint32_t>> taken;      // of each core, from other groups; likewise
  std::vector<std::vector<std::uint32_t>> collected;  // by outlet, if the edge collects
};

/// A wafer that can be asked what its units have counted when all cycles before `at` are over,
/// between two cycles of a run.
class CountedWafer {
 public:
  virtual ~CountedWafer() = default;

  /// What a row, whose cores end with `steps` reductions, and the injectors have counted.
  virtual RowCounts count_row(std::size_t row, std::uint64_t steps, Cycle at) = 0;
  virtual std::vector<InjectorCounters> count_injectors(Cycle at) = 0;

  /// The cores of a row one by one.
  virtual std::vector<CoreCounters> row_cores(std::size_t row, Cycle at) = 0;

  /// The same of all units one by one, which run `program`; without events and results.
  virtual WaferOutcome counts_so_far(const Program& program, Cycle at) = 0;
};

/// The dataflow wafer: rows of cores and routers, and the injectors at the top of the columns.
/// Its units are numbered row by row, router then core of each column, then the injectors.
class Wafer : public sc_core::sc_module, public CountedWafer, private RowWaker {
 public:
  Wafer(const sc_core::sc_module_name& name, const HardwareParams& params, const Program& program,
        ClockDomain& clock, const RunOptions& options);

  RowCounts count_row(std::size_t row, std::uint64_t steps, Cycle at) override;
  std::vector<InjectorCounters> count_injectors(Cycle at) override;
  std::vector<CoreCounters> row_cores(std::size_t row, Cycle at) override;
  WaferOutcome counts_so_far(const Program& program, Cycle at) override;

  /// Accounts for all units up to cycle `at`, between two cycles of a run.
  void account(Cycle at);

  /// Accounts for the units asleep when the run was ended, and ends the records of the log.
  void flush(Cycle end);

  /// The same at the end of the program; checks that no word is left anywhere.
  void settle(Cycle end);

  /// What all units have counted; without events and results.
  void collect(const Program& program, WaferOutcome& outcome) const;

  /// The ways in and out that the program names, in its order.
  EdgeInlet& inlet(std::size_t index) { return *inlets_.at(index); }
  EdgeOutlet& outlet(std::size_t index) { return *outlets_.at(index); }

  /// Nothing is left to do.
  bool done() const { return cores_->finished() == cores_->size() && injectors_->to_enter() == 0; }
  const CoreArray& cores() const { return *cores_; }
  const RouterArray& routers() const { return routers_; }
  const InjectorBank& injectors() const { return *injectors_; }
  const EventLog& log() const { return log_; }

 private:
  void add_edge(const RouterParams& router, const Program& program, MeshPlan plan);
  void wake_row(std::size_t row, Cycle at) override;

  ClockDomain& clock_;
  EventLog log_;
  Agendas agendas_;
  LinkArray links_{agendas_};
  RouterArray routers_;
  std::unique_ptr<CoreArray> cores_;
  Mesh mesh_;
  std::vector<std::unique_ptr<PeRow>> rows_;
  std::unique_ptr<InjectorBank> injectors_;
  std::vector<std::unique_ptr<EdgeInlet>> inlets_;
  std::vector<std::unique_ptr<EdgeOutlet>> outlets_;
};

/// By cycle, unit, kind and argument: an order that no engine and no order of stepping changes.
void sort_events(std::vector<Event>& events);

}  // namespace lacuna::wse

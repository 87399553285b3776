// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/edge/edge.hpp"
#include "models/wse/edge/injector_bank.hpp"
#include "models/wse/engine/mesh.hpp"
#include "models/wse/engine/places.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/lane_cores.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/run_options.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// What the cores and routers of one row have counted, and when each core ended: kNever if it has
/// not yet.
struct RowCounts {
  CoreCounters core;
  RouterCounters router;
  std::vector<Cycle> ends;
};

/// Cores that run the kernel of `program`, none yet.
std::unique_ptr<LaneCores> make_cores(const HardwareParams& params, const Program& program,
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
class CountedWafer : public Places<LaneCores> {
 public:
  explicit CountedWafer(const Program& program) : program_(program) {}

  virtual InjectorBank& injectors() = 0;

  /// What a row, whose cores end with `steps` reductions, has counted.
  RowCounts count_row(std::size_t row, std::uint64_t steps, Cycle at);

  /// The cores of a row one by one.
  std::vector<CoreCounters> row_cores(std::size_t row, Cycle at);

  /// The same of all units one by one; without events and results.
  WaferOutcome counts_so_far(Cycle at);

  /// Accounts for the units asleep when the run was ended, and ends the records of the log.
  void flush(Cycle end);

  /// The same at the end of the program; checks that no word is left anywhere.
  void settle(Cycle end);

 private:
  const Program& program_;
};

/// The dataflow wafer: rows of cores and routers, and the injectors at the top of the columns.
/// Its units are numbered row by row, router then core of each column, then the injectors.
class Wafer : public sc_core::sc_module, public CountedWafer {
 public:
  Wafer(const sc_core::sc_module_name& name, const HardwareParams& params, const Program& program,
        ClockDomain& clock, const RunOptions& options);

  std::size_t size() const override { return cores_->size(); }
  Place<LaneCores> place(std::size_t number) override { return {mesh_.routers, *cores_, number}; }
  InjectorBank& injectors() override { return *injectors_; }
  bool done() const override { return mesh_.done(); }
  void check_empty() const override { mesh_.check_empty(); }

  /// The ways in and out that the program names, in its order.
  EdgeInlet& inlet(std::size_t index) { return *inlets_.at(index); }
  EdgeOutlet& outlet(std::size_t index) { return *outlets_.at(index); }

 private:
  void add_edge(const RouterParams& router, const Program& program, const MeshPlan& plan,
                ClockDomain& clock);

  Mesh mesh_;
  std::unique_ptr<LaneCores> cores_;
  std::unique_ptr<InjectorBank> injectors_;
  std::vector<std::unique_ptr<EdgeInlet>> inlets_;
  std::vector<std::unique_ptr<EdgeOutlet>> outlets_;
};

/// By cycle, unit, kind and argument: an order that no engine and no order of stepping changes.
void sort_events(std::vector<Event>& events);

}  // namespace lacuna::wse

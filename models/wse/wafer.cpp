// SPDX-License-Identifier: Apache-2.0
#include "models/wse/wafer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/pe/gradient_core.hpp"
#include "models/wse/pe/streaming_core.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {

std::unique_ptr<LaneCores> make_cores(const HardwareParams& params, const Program& program,
                                      LinkArray& links, EventLog& log) {
  if (program.gradient) {
    return std::make_unique<GradientCores>(params, program.kernel, *program.gradient, links, log);
  }
  return std::make_unique<StreamingCores>(params, program.kernel, links, log);
}

Wafer::Wafer(const sc_core::sc_module_name& name, const HardwareParams& params,
             const Program& program, ClockDomain& clock, const RunOptions& options)
    : sc_module(name),
      CountedWafer(program),
      mesh_(params.router, program, clock, options, log_),
      cores_(make_cores(params, program, mesh_.links, log_)) {
  if (options.event_log) log_.enable(options.event_scope);
  if (program.both_ways()) mesh_.routers.watch_north();
  const MeshPlan plan = build_mesh(params, program, mesh_.links);
  mesh_.add(plan, *cores_);
  add_edge(params.router, program, plan, clock);
  mesh_.start();
}

void Wafer::add_edge(const RouterParams& router, const Program& program, const MeshPlan& plan,
                     ClockDomain& clock) {
  std::vector<LinkId> in = injector_links(program, plan);
  std::vector<LinkId> out = outlet_links(program, plan);
  for (const std::uint32_t column : program.inlets) {
    const std::string name = fmt::format("inlet_c{}", column);
    inlets_.push_back(
        std::make_unique<EdgeInlet>(name.c_str(), in.at(column), mesh_.links, mesh_.agendas));
    mesh_.wakes_with_edge(*inlets_.back());
    clock.add(*inlets_.back());
    in[column] = kNoLink;
  }
  const std::size_t outlets = program.collects ? 0 : program.outlets.size();
  for (std::size_t k = 0; k < outlets; ++k) {
    const Outlet& at = program.outlets[k];
    const std::string name = fmt::format("outlet_r{}_c{}_{}_{}", at.row, at.column,
                                         port_name(at.port), static_cast<unsigned>(at.color));
    outlets_.push_back(
        std::make_unique<EdgeOutlet>(name.c_str(), out.at(k), mesh_.links, mesh_.agendas, mesh_));
    mesh_.wakes_with_edge(*outlets_.back());
    clock.add(*outlets_.back());
  }
  injectors_ = std::make_unique<InjectorBank>(
      router, program, std::move(in), router_unit(program.columns, program.rows, 0), program.rows,
      mesh_.agendas, mesh_.links, log_, clock);
  mesh_.to_enter = &injectors_->to_enter();
  if (program.collects) injectors_->collect(std::move(out), &mesh_);
  mesh_.wakes_with_edge(*injectors_);
  clock.add(*injectors_, "injectors");
}

RowCounts CountedWafer::count_row(std::size_t row, std::uint64_t steps, Cycle at) {
  RowCounts counts;
  for (std::size_t i = row * program_.columns; i < (row + 1) * program_.columns; ++i) {
    const Place<LaneCores> unit = place(i);
    unit.account(at);
    counts.core.add(unit.core(), 1);
    counts.router.add(unit.router(), 1);
    const bool ended = unit.core().reductions == steps && unit.cores.blocked(unit.number).empty();
    counts.ends.push_back(ended ? unit.core().end : kNever);
  }
  return counts;
}

std::vector<CoreCounters> CountedWafer::row_cores(std::size_t row, Cycle at) {
  std::vector<CoreCounters> cores;
  for (std::size_t i = row * program_.columns; i < (row + 1) * program_.columns; ++i) {
    place(i).cores.account(place(i).number, at);
    cores.push_back(place(i).core());
  }
  return cores;
}

WaferOutcome CountedWafer::counts_so_far(Cycle at) {
  WaferOutcome outcome;
  outcome.cycles = at;
  for (std::size_t i = 0; i < size(); ++i) {
    const Place<LaneCores> unit = place(i);
    unit.account(at);
    outcome.cores.push_back(unit.core());
    outcome.routers.push_back(unit.router());
  }
  outcome.injectors = injectors().counters(at);
  for (std::size_t k = 0; program_.collects && k < program_.outlets.size(); ++k) {
    outcome.collected.push_back(injectors().collected(k));
  }
  return outcome;
}

void CountedWafer::flush(Cycle end) {
  injectors().account(end);
  if (log_.enabled()) injectors().end_records();
  end_units(end);
}

void CountedWafer::settle(Cycle end) {
  flush(end);
  check_empty();
}

void sort_events(std::vector<Event>& events) {
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.cycle, a.unit, a.kind, a.argument) <
           std::tie(b.cycle, b.unit, b.kind, b.argument);
  });
}

}  // namespace lacuna::wse

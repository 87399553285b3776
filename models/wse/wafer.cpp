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

std::unique_ptr<CoreArray> make_cores(const HardwareParams& params, const Program& program,
                                      LinkArray& links, EventLog& log) {
  if (program.gradient) {
    return std::make_unique<GradientCores>(params, program.kernel, *program.gradient, links, log);
  }
  return std::make_unique<StreamingCores>(params, program.kernel, links, log);
}

Wafer::Wafer(const sc_core::sc_module_name& name, const HardwareParams& params,
             const Program& program, ClockDomain& clock, const RunOptions& options)
    : sc_module(name),
      clock_(clock),
      routers_(params.router, links_, log_),
      cores_(make_cores(params, program, links_, log_)) {
  if (options.event_log) log_.enable(options.event_scope);
  if (program.both_ways()) routers_.watch_north();
  MeshPlan plan = build_mesh(params, program, links_);
  links_.jitter(options.jitter, options.jitter_seed);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    routers_.add(plan.ports[i].unit - 1, plan.inputs[i]);
    cores_->add(plan.ports[i]);
  }
  if (options.engine == Engine::event) {
    agendas_.start(program.rows + std::size_t{1}, std::size_t{2} * program.columns, *this);
  }
  mesh_ = {program.columns, program.rows, options.shuffle, &agendas_,
           &links_,         &routers_,    cores_.get(),    &clock};
  add_edge(params.router, program, std::move(plan));
  for (std::size_t r = 0; r < program.rows; ++r) {
    rows_.push_back(make_pe_row(options.engine, mesh_, r));
    clock.add(*rows_.back(), fmt::format("r{}", r));
  }
}

void Wafer::add_edge(const RouterParams& router, const Program& program, MeshPlan plan) {
  for (const std::uint32_t column : program.inlets) {
    const std::string name = fmt::format("inlet_c{}", column);
    inlets_.push_back(
        std::make_unique<EdgeInlet>(name.c_str(), plan.injectors.at(column), links_, agendas_));
    clock_.add(*inlets_.back());
    plan.injectors[column] = kNoLink;
  }
  const std::size_t outlets = program.collects ? 0 : program.outlets.size();
  for (std::size_t k = 0; k < outlets; ++k) {
    const Outlet& at = program.outlets[k];
    const std::string name = fmt::format("outlet_r{}_c{}_{}_{}", at.row, at.column,
                                         port_name(at.port), static_cast<unsigned>(at.color));
    outlets_.push_back(
        std::make_unique<EdgeOutlet>(name.c_str(), plan.outlets.at(k), links_, agendas_, mesh_));
    clock_.add(*outlets_.back());
  }
  injectors_ = std::make_unique<InjectorBank>(router, program, std::move(plan.injectors),
                                              router_unit(program.columns, program.rows, 0),
                                              program.rows, agendas_, links_, log_, clock_);
  mesh_.to_enter = &injectors_->to_enter();
  if (program.collects) injectors_->collect(std::move(plan.outlets), &mesh_);
  clock_.add(*injectors_, "injectors");
}

void Wafer::wake_row(std::size_t row, Cycle at) {
  if (row < rows_.size()) {
    clock_.wake(*rows_[row], at);
    return;
  }
  clock_.wake(*injectors_, at);
  for (const auto& inlet : inlets_) clock_.wake(*inlet, at);
  for (const auto& outlet : outlets_) clock_.wake(*outlet, at);
}

RowCounts Wafer::count_row(std::size_t row, std::uint64_t steps, Cycle at) {
  RowCounts counts;
  for (std::size_t i = row * mesh_.columns; i < (row + 1) * mesh_.columns; ++i) {
    routers_.account(i, at);
    cores_->account(i, at);
    counts.core.add(cores_->counters(i), 1);
    counts.router.add(routers_.counters(i), 1);
    const CoreCounters& core = cores_->counters(i);
    const bool ended = core.reductions == steps && cores_->blocked(i).empty();
    counts.ends.push_back(ended ? core.end : kNever);
  }
  return counts;
}

std::vector<InjectorCounters> Wafer::count_injectors(Cycle at) {
  injectors_->account(at);
  std::vector<InjectorCounters> counts;
  for (std::size_t c = 0; c < mesh_.columns; ++c) counts.push_back(injectors_->counters(c));
  return counts;
}

std::vector<CoreCounters> Wafer::row_cores(std::size_t row, Cycle at) {
  std::vector<CoreCounters> cores;
  for (std::size_t i = row * mesh_.columns; i < (row + 1) * mesh_.columns; ++i) {
    cores_->account(i, at);
    cores.push_back(cores_->counters(i));
  }
  return cores;
}

void Wafer::account(Cycle at) {
  injectors_->account(at);
  for (std::size_t i = 0; i < cores_->size(); ++i) {
    routers_.account(i, at);
    cores_->account(i, at);
  }
}

void Wafer::flush(Cycle end) {
  injectors_->account(end);
  if (log_.enabled()) injectors_->end_records();
  for (std::size_t i = 0; i < cores_->size(); ++i) {
    routers_.account(i, end);
    cores_->settle(i, end);
  }
}

void Wafer::settle(Cycle end) {
  flush(end);
  for (LinkId id = 0; id < links_.size(); ++id) {
    if (links_.stored(id) != 0) {
      throw InternalError(fmt::format("{} words are left between units {} and {} of the wafer",
                                      links_.stored(id), links_.writer(id), links_.reader(id)));
    }
  }
}

void sort_events(std::vector<Event>& events) {
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.cycle, a.unit, a.kind, a.argument) <
           std::tie(b.cycle, b.unit, b.kind, b.argument);
  });
}

void Wafer::collect(const Program& program, WaferOutcome& outcome) const {
  for (std::size_t i = 0; i < cores_->size(); ++i) {
    outcome.cores.push_back(cores_->counters(i));
    outcome.routers.push_back(routers_.counters(i));
  }
  for (std::size_t c = 0; c < program.columns; ++c) {
    outcome.injectors.push_back(injectors_->counters(c));
  }
  for (std::size_t k = 0; program.collects && k < program.outlets.size(); ++k) {
    outcome.collected.push_back(injectors_->collected(k));
  }
}

WaferOutcome Wafer::counts_so_far(const Program& program, Cycle at) {
  account(at);
  WaferOutcome outcome;
  outcome.cycles = at;
  collect(program, outcome);
  return outcome;
}

}  // namespace lacuna::wse

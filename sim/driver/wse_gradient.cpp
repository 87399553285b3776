// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/wse_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/wse/gradient_sweep.hpp"
#include "models/wse/wafer.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/driver/measure.hpp"
#include "sim/driver/wse_counts.hpp"
#include "sim/driver/wse_explain.hpp"
#include "workloads/mapping/wse/gradient.hpp"

namespace lacuna {
namespace {

using wse::GradientJob;
using wse::GradientPlan;
using wse::WaferOutcome;

ValueCheck check_values(const GradientJob& job, const GradientPlan& plan,
                        const WaferOutcome& outcome) {
  ValueCheck check;
  const auto expected = wse::gradient_reference(plan.program);
  const auto exact = wse::exact_gradient(job, plan);
  const bool fp32 = plan.program.kernel.ring_fp32;
  for (std::size_t c = 0; c < expected.size(); ++c) {
    for (std::size_t i = 0; i < expected[c].size(); ++i) {
      ++check.compared;
      const bool there = c < outcome.collected.size() && i < outcome.collected[c].size();
      const std::uint32_t word = there ? outcome.collected[c][i] : 0;
      const float y = fp32 ? detail::float_of(word) : to_float(static_cast<Half>(word & 0xffffU));
      if (!there || y != expected[c][i]) ++check.wrong;
      check.largest_error =
          std::max(check.largest_error, std::abs(y - static_cast<double>(exact[c][i])));
    }
  }
  return check;
}

void fill_work(const GradientPlan& plan, const WaferOutcome& outcome, const LayerOp& op,
               const wse::HardwareParams& hardware, OpResult& result) {
  wse::WaferStats stats;
  stats.collect_gradient(outcome, plan.program, hardware, plan.rows_off);
  result.mac_algorithmic = std::uint64_t{op.m} * op.k * op.n;
  result.mac_useful = plan.positions * op.k;
  stats.core.mac_skipped += result.mac_algorithmic - result.mac_useful;
  result.sram_read_bytes = stats.sram_read_bytes;
  result.sram_write_bytes = stats.sram_write_bytes;
  CountsSoFar counts = wafer_counts(stats);
  result.fabric_bytes = counts.fabric_bytes;
  result.io_bytes = counts.io_bytes;
  result.statistics = std::move(counts.statistics);
  stats.limits.add_to(result.statistics);
  result.stack = std::move(counts.stack);
}

void fill_peaks(const WseParams& params, const GradientPlan& plan, OpResult& result) {
  const auto units = static_cast<double>(result.units);
  const wse::Rate& rate = plan.program.rate;
  result.peaks.flop_per_cycle = 2.0 * plan.program.kernel.simd * units;
  result.peaks.sram_bytes_per_cycle =
      (params.mem.read_bits + params.mem.write_bits) / 8.0 / params.mem.port_cycles * units;
  if (params.mem.model == wse::MemoryModel::none) {
    result.peaks.sram_bytes_per_cycle = 64.0 * plan.program.kernel.simd * units;
  }
  result.peaks.fabric_bytes_per_cycle = 4 * 4.0 * units;
  result.peaks.io_bytes_per_cycle = (plan.program.full_duplex ? 8.0 : 4.0) *
                                    static_cast<double>(rate.words) / static_cast<double>(rate.per);
}

void fill_notes(const WseParams& params, const GradientPlan& plan, OpResult& result) {
  const auto note = [&](const char* key, std::string text) {
    result.notes.emplace_back(key, std::move(text));
  };
  const auto& tokens = plan.program.kernel.tokens;
  note("rectangle", fmt::format("{} columns x {} rows of {} cores", params.wafer.columns.value(),
                                params.wafer.rows.value(), params.wafer.cores.value()));
  note("tokens per core", tokens.front() == tokens.back()
                              ? fmt::format("{}", tokens.front())
                              : fmt::format("{} to {}", tokens.back(), tokens.front()));
  note("memory per core", fmt::format("{} of {} bytes", plan.bytes, plan.limit));
  note("io share", fmt::format("{:.6g} of the wafer, {}/{} wavelets per cycle", plan.io_share,
                               plan.program.rate.words, plan.program.rate.per));
  note("fold", "every row is simulated: sums run down the columns");
}

/// Rows as lanes where that can be, unit by unit elsewhere; with the same result. Intervals, of
/// which the borders but the last are noted, need the units.
WaferOutcome simulate_gradient(const wse::HardwareParams& hardware, const GradientPlan& plan,
                               const Execution& execution, bool modules,
                               std::vector<std::pair<Cycle, CountsSoFar>>& borders) {
  wse::RunOptions options{execution.engine,
                          execution.shuffle,
                          execution.jitter,
                          execution.jitter_seed,
                          execution.event_log,
                          false,
                          modules};
  if (execution.interval != 0) {
    options.first_look = execution.interval;
    options.look = [&](Cycle at, wse::CountedWafer& wafer) {
      wse::WaferStats stats;
      stats.collect_gradient(wafer.counts_so_far(plan.program, at), plan.program, hardware,
                             plan.rows_off);
      borders.emplace_back(at, wafer_counts(stats));
      return at + execution.interval;
    };
  } else if (execution.fold && !execution.values) {
    if (auto swept = wse::sweep_gradient(hardware, plan.program, options)) {
      return std::move(*swept);
    }
  }
  return wse::simulate(hardware, plan.program, options);
}

/// Names of the units of the event log.
void name_units(const wse::Program& program, OpResult& result) {
  for (std::uint32_t r = 0; r < program.rows; ++r) {
    for (std::uint32_t c = 0; c < program.columns; ++c) {
      result.event_units.push_back(fmt::format("wafer.r{}.c{}.router", r, c));
      result.event_units.push_back(fmt::format("wafer.r{}.c{}.core", r, c));
    }
  }
  for (std::uint32_t c = 0; c < program.columns; ++c) {
    result.event_units.push_back(fmt::format("wafer.injector.c{}", c));
  }
  result.event_kinds = wse::event_kind_names();
}

}  // namespace

OpResult run_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                      std::uint64_t seed, const Execution& execution) {
  GradientJob job;
  job.m = op.m;
  job.tokens = op.k;
  job.n = op.n;
  job.mask = mask;
  job.dtype = op.dtype;
  job.partials = op.partials;
  job.values = execution.values;
  job.seed = seed;
  const wse::StreamingSetup setup{params.wafer, params.core,    params.queue, params.mem,
                                  params.simd,  params.ws,      params.io,    params.map,
                                  params.clock, params.resident};
  const wse::HardwareParams hardware{params.core, params.queue, params.router};
  const GradientPlan plan = wse::plan_gradient(job, setup);
  std::vector<std::pair<Cycle, CountsSoFar>> borders;
  const bool modules = params.wafer.modules == wse::Modules::per_core;
  const WaferOutcome outcome = simulate_gradient(hardware, plan, execution, modules, borders);
  OpResult result;
  result.cycles = outcome.cycles;
  result.clock_ghz = params.clock;
  result.units = std::uint64_t{params.wafer.columns} * params.wafer.rows;
  fill_work(plan, outcome, op, hardware, result);
  fill_peaks(params, plan, result);
  fill_notes(params, plan, result);
  result.phases = {whole_phase("stream", result)};
  if (execution.interval != 0) result.intervals = intervals_of(borders, result);
  if (execution.event_log) {
    result.events = outcome.events;
    name_units(plan.program, result);
  }
  if (execution.explain) result.explanation = explain_gradient(plan.program, outcome);
  if (execution.values) result.values = check_values(job, plan, outcome);
  return op.batch == 1 ? result : repeated(std::move(result), op.batch);
}

}  // namespace lacuna

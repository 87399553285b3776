// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/sparsity/mask.hpp"
#include "models/wse/engine/gradient_sweep.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/row_marks.hpp"
#include "models/wse/simulate.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/machines/measure.hpp"
#include "sim/machines/result_sequence.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/explain.hpp"
#include "sim/machines/wse/gradient_rows.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/result.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/view/core_series.hpp"
#include "sim/machines/wse/view/critical_path.hpp"
#include "workloads/mapping/wse/gradient.hpp"

namespace lacuna {
namespace {

using wse::GradientJob;
using wse::GradientPlan;
using wse::WaferOutcome;

/// Compares what left each column with the same sums in the machine's arithmetic. The largest error
/// is that of an element, for which groups that share tokens send a part each: these are added.
ValueCheck check_values(const GradientJob& job, const GradientPlan& plan,
                        const WaferOutcome& outcome) {
  ValueCheck check;
  const auto expected = wse::gradient_reference(plan.program);
  const auto exact = wse::exact_gradient(job, plan);
  const wse::StreamingKernel& kernel = plan.program.kernel;
  const auto value = [&](std::size_t c, std::size_t i) {
    const bool there = c < outcome.collected.size() && i < outcome.collected[c].size();
    const std::uint32_t word = there ? outcome.collected[c][i] : 0;
    const float y =
        kernel.ring_fp32 ? detail::float_of(word) : to_float(static_cast<Half>(word & 0xffffU));
    ++check.compared;
    if (!there || y != expected[c][i]) ++check.wrong;
    return static_cast<double>(y);
  };
  for (std::uint32_t c = 0; c < expected.size(); ++c) {
    if (plan.shares != 1 && kernel.groups.group_of(c) != 0) continue;
    for (std::size_t i = 0; i < expected[c].size(); ++i) {
      double sum = 0;
      for (std::uint32_t share = 0; share < plan.shares; ++share) {
        const std::uint32_t place = kernel.groups.place_of(c);
        sum += value(plan.shares == 1 ? c : kernel.groups.column_of(share, place), i);
      }
      check.largest_error =
          std::max(check.largest_error, std::abs(sum - static_cast<double>(exact[c][i])));
    }
  }
  return check;
}

/// What the groups of a gradient share.
std::string groups_text(const GradientPlan& plan) {
  const wse::StreamingKernel& kernel = plan.program.kernel;
  const wse::ColumnGroups& groups = kernel.groups;
  const std::string what = fmt::format("{} of {} columns{}, ", groups.count, groups.width,
                                       groups.interleaved ? ", interleaved" : "");
  if (plan.shares == 1) return fmt::format("{}{} rows of the gradient each", what, kernel.steps);
  return fmt::format(
      "{}tokens of each row of cores each; {}; each sends its own sums of every element out, which "
      "are added outside{}",
      what,
      plan.program.source.empty() ? "idealised: indices enter in every group and are paid for once"
                                  : "indices enter once, a row of routers copies them",
      plan.padding == 0 ? "" : fmt::format("; {} tokens of padding", plan.padding));
}

void fill_peaks(const WseParams& params, const GradientPlan& plan, OpResult& result) {
  const wse::Rate& rate = plan.program.rate;
  result.peaks = core_peaks(params, plan.program.kernel.simd, result.units);
  result.peaks.io_bytes_per_cycle = (plan.program.full_duplex ? 8.0 : 4.0) *
                                    static_cast<double>(rate.words) / static_cast<double>(rate.per);
}

/// Runs the parts once more, now that their cycles are known, and looks at their cores at the ends
/// of steps.
class GradientUnits {
 public:
  GradientUnits(const wse::HardwareParams& hardware, wse::RunOptions options, Cycle cycles,
                const Execution& execution)
      : hardware_(hardware),
        options_(std::move(options)),
        cycles_(cycles),
        length_(step_length(cycles, execution.view)),
        window_(execution.path) {
    options_.event_log = false;
  }

  void add(const wse::Program& program) {
    if (run_.cores.empty()) {
      program_ = program;
      run_.cores.resize(std::size_t{program.columns} * program.rows);
      run_.routers.resize(run_.cores.size());
    }
    wse::RunOptions options = options_;
    options.first_look = length_ - before_ % length_;
    options.look = [&](Cycle at, wse::CountedWafer& wafer) {
      wse::require_marks((marks_.size() + 1) * run_.cores.size());
      GradientMark mark{before_ + at, run_.cores};
      add_to(mark.cores, wafer.counts_so_far(program, at).cores);
      if (mark.at < cycles_) marks_.push_back(std::move(mark));
      return at + length_;
    };
    const WaferOutcome part = wse::simulate(hardware_, program, options);
    if (window_) add_records(program, part.cycles);
    add_to(run_.cores, part.cores);
    for (std::size_t i = 0; i < part.routers.size(); ++i) run_.routers[i].add(part.routers[i], 1);
    before_ += part.cycles;
  }

  UnitSeries take() {
    run_.cycles = before_;
    UnitSeries series = gradient_series(marks_, run_, program_, hardware_);
    if (!window_) return series;
    std::stable_sort(records_.begin(), records_.end(),
                     [](const Event& a, const Event& b) { return a.cycle < b.cycle; });
    const wse::QueueShapes shapes(hardware_.router);
    const PathWindow window = fitted(*window_, program_.columns, program_.rows, before_);
    series.path =
        critical_path(window, {std::move(records_), program_.columns, program_.rows,
                               shapes.link().latency, shapes.ramp_up().latency, program_.entry});
    return series;
  }

 private:
  static void add_to(std::vector<wse::CoreCounters>& sums,
                     const std::vector<wse::CoreCounters>& part) {
    for (std::size_t i = 0; i < part.size(); ++i) sums[i].add(part[i], 1);
  }

  /// The records of a part that the window meets.
  void add_records(const wse::Program& program, Cycle cycles) {
    if (window_->to <= before_ || window_->from >= before_ + cycles) return;
    PathWindow window = fitted(*window_, program.columns, program.rows, cycles_);
    window.from -= std::min(window.from, before_);
    window.to -= before_;
    const WaferOutcome run = wse::simulate(
        hardware_, program, with_records(options_, window, program.columns, program.rows));
    require_records(run.events_left_out);
    for (Event event : run.events) {
      event.cycle += before_;
      records_.push_back(event);
    }
  }

  const wse::HardwareParams& hardware_;
  wse::RunOptions options_;
  Cycle cycles_;
  Cycle length_;
  std::optional<PathWindow> window_;
  wse::Program program_;
  Cycle before_ = 0;
  WaferOutcome run_;
  std::vector<GradientMark> marks_;
  std::vector<Event> records_;
};

/// Runs the parts of a weight gradient one after the other.
class GradientRun {
 public:
  GradientRun(const WseParams& params, const LayerOp& op, const Execution& execution)
      : params_(params),
        op_(op),
        execution_(execution),
        hardware_(params.hardware()),
        into_(params, execution, params.cores()) {
    result_.mac_algorithmic = std::uint64_t{op.m} * op.k * op.n;
  }

  void add(const GradientJob& job, const GradientPlan& plan) {
    const WaferOutcome outcome = simulate(plan);
    if (parts_++ == 0) {
      fill_peaks(params_, plan, result_);
      fill_notes(plan);
      if (execution_.explain) result_.explanation = explain_gradient(plan.program, outcome);
      if (execution_.event_log) {
        into_.event_names(plan.program.rows, plan.program.columns, plan.program.columns);
      }
    }
    wse::WaferStats stats;
    stats.collect_gradient(outcome, plan.program, hardware_, plan.rows_off);
    const std::uint64_t useful = plan.positions * op_.k;
    stats.core.mac_skipped += std::uint64_t{plan.outputs} * op_.k * op_.n - useful;
    stats.core.mac_edge += plan.positions * plan.padding;
    result_.mac_useful += useful;
    result_.sram_read_bytes += stats.sram_read_bytes;
    result_.sram_write_bytes += stats.sram_write_bytes;
    counts_ = with(std::move(counts_), stats);
    stats.limits.add_to(limits_);
    into_.events(outcome.events, result_.cycles);
    if (execution_.values) add_values(job, plan, outcome);
    result_.cycles += outcome.cycles;
  }

  /// Of all parts, which have been added: what their cores did over time. `visit(part)` calls
  /// `part` with the plan of each.
  template <class Visit>
  void add_units(const Visit& visit) {
    GradientUnits units(hardware_, run_options(params_, execution_), result_.cycles, execution_);
    visit([&](const GradientPlan& plan) { units.add(plan.program); });
    result_.units_in_time = std::make_shared<UnitSeries>(units.take());
  }

  OpResult result() {
    into_.counted(std::move(counts_), result_.sram_read_bytes, result_.sram_write_bytes);
    result_.statistics.insert(result_.statistics.end(), limits_.begin(), limits_.end());
    if (parts_ > 1) {
      into_.note("parts",
                 fmt::format("{}, one after the other: as many rows at a time as leave room for "
                             "their dot products",
                             parts_));
    }
    into_.one_phase("stream");
    return into_.take();
  }

 private:
  /// `counts` of parts that are over, and those of a further one.
  static CountsSoFar with(CountsSoFar counts, const wse::WaferStats& stats) {
    for (const StatGroup* const group :
         {static_cast<const StatGroup*>(&stats.core), static_cast<const StatGroup*>(&stats.router),
          static_cast<const StatGroup*>(&stats.edge)}) {
      group->add_to(counts.statistics);
      group->add_to(counts.stack);
    }
    counts.sram_bytes += stats.sram_read_bytes + stats.sram_write_bytes;
    counts.fabric_bytes += stats.router.hops.value() * 4;
    counts.io_bytes += stats.edge.bits.value() / 8;
    return counts;
  }

  /// Rows as lanes where that can be, unit by unit elsewhere; with the same result. Intervals, of
  /// which the borders but the last are noted, need the units.
  WaferOutcome simulate(const GradientPlan& plan) {
    wse::RunOptions options = run_options(params_, execution_);
    if (execution_.interval != 0) {
      const Cycle before = result_.cycles;
      options.first_look = execution_.interval - before % execution_.interval;
      options.look = [this, &plan, before](Cycle at, wse::CountedWafer& wafer) {
        wse::WaferStats stats;
        stats.collect_gradient(wafer.counts_so_far(plan.program, at), plan.program, hardware_,
                               plan.rows_off);
        into_.border(before + at, with(counts_, stats));
        return at + execution_.interval;
      };
    } else if (execution_.fold && !execution_.values) {
      if (parts_ == 0) {
        not_folded_ = wse::reason_not_to_fold_gradient(hardware_, plan.program, options);
        if (not_folded_.empty()) not_folded_ = "a row was not ready for the chain when it came";
      }
      if (auto swept = wse::sweep_gradient(hardware_, plan.program, options)) {
        if (swept->streamed != 0 && parts_ == 0) {
          fold_ = fmt::format(
              "{} of {} rows simulated while the stream runs, the others do the same, later; "
              "in the chain what leaves the wafer says what all rows do",
              swept->streamed, plan.program.rows);
        }
        return std::move(swept->outcome);
      }
    }
    if (!execution_.fold) not_folded_ = "switched off";
    if (execution_.values) not_folded_ = "each row carries values of its own";
    if (execution_.interval != 0) not_folded_ = "counts of intervals need every unit";
    return wse::simulate(hardware_, plan.program, options);
  }

  void fill_notes(const GradientPlan& plan) {
    const auto& tokens = plan.program.kernel.tokens;
    const std::uint32_t most = tokens[plan.program.entry];
    into_.rectangle();
    into_.note("tokens per core", most == tokens.back()
                                      ? fmt::format("{}", most)
                                      : fmt::format("{} to {}", tokens.back(), most));
    into_.memory(plan.bytes, plan.limit);
    into_.note("io share",
               fmt::format("{:.6g} of the wafer, {}/{} wavelets per cycle", plan.io_share,
                           plan.program.rate.words, plan.program.rate.per));
    if (plan.program.kernel.groups.count != 1) into_.note("groups", groups_text(plan));
    if (plan.shares != 1 && plan.program.source.empty()) {
      into_.result.remarks.emplace_back(
          "idealised (ws.copies): indices enter in every group and are paid for once, which no "
          "hardware does");
    }
    into_.note("fold", fold_.empty() ? "every row is simulated: " + not_folded_ : fold_);
  }

  void add_values(const GradientJob& job, const GradientPlan& plan, const WaferOutcome& outcome) {
    const ValueCheck check = check_values(job, plan, outcome);
    if (!result_.values) result_.values = ValueCheck{};
    result_.values->compared += check.compared;
    result_.values->wrong += check.wrong;
    result_.values->largest_error = std::max(result_.values->largest_error, check.largest_error);
  }

  const WseParams& params_;
  const LayerOp& op_;
  const Execution& execution_;
  const wse::HardwareParams hardware_;
  WaferResult into_;
  OpResult& result_ = into_.result;
  CountsSoFar counts_;
  std::vector<StatEntry> limits_;
  std::string fold_;
  std::string not_folded_;  // if it is empty
  std::uint32_t parts_ = 0;
};

}  // namespace

OpResult run_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                      std::uint64_t seed, const Execution& execution) {
  GradientJob job = gradient_job(op, mask);
  job.values = execution.values;
  job.seed = seed;
  GradientRun run(params, op, execution);
  const auto each_part = [&](const auto& visit) {
    wse::plan_gradient_parts(job, streaming_setup(params), visit);
  };
  each_part([&](const GradientPlan& plan) { run.add(job, plan); });
  if (execution.view != 0) run.add_units(each_part);
  OpResult result = run.result();
  if (result.units_in_time != nullptr) check_units(*result.units_in_time, result);
  if (op.batch != 1) return repeated(std::move(result), op.batch);
  OpResult moved = run_moves(params, op, mask, seed, execution, false);
  if (moved.cycles != 0) put_before(std::move(moved), result);
  return result;
}

Cycle least_cycles_of_gradient(const WseParams& params, const LayerOp& op, const Mask* mask) {
  return wse::least_gradient_cycles(gradient_job(op, mask), streaming_setup(params));
}

}  // namespace lacuna

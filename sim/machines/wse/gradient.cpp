// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/wse/engine/gradient_lanes.hpp"
#include "models/wse/row_marks.hpp"
#include "models/wse/simulate.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/result_sequence.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/explain.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/stream_run.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/view/core_series.hpp"
#include "sim/machines/wse/view/critical_path.hpp"

namespace lacuna {
namespace {

using wse::GradientJob;
using wse::GradientPlan;
using wse::WaferOutcome;

/// Compares what left each column with the same sums in the machine's arithmetic. The largest error
/// is that of an element, for which groups that share tokens send a part each: these are added.
void check_values(const GradientJob& job, const GradientPlan& plan, const WaferOutcome& outcome,
                  ValueCheck& check) {
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
  const std::uint32_t shares = plan.element_shares;
  for (std::uint32_t c = 0; c < expected.size(); ++c) {
    if (shares != 1 && kernel.groups.group_of(c) != 0) continue;
    for (std::size_t i = 0; i < expected[c].size(); ++i) {
      double sum = 0;
      for (std::uint32_t share = 0; share < shares; ++share) {
        const std::uint32_t place = kernel.groups.place_of(c);
        sum += value(shares == 1 ? c : kernel.groups.column_of(share, place), i);
      }
      check.largest_error =
          std::max(check.largest_error, std::abs(sum - static_cast<double>(exact[c][i])));
    }
  }
}

/// What the groups of a gradient share.
std::string shared_text(const GradientPlan& plan) {
  if (plan.element_shares == 1) {
    return fmt::format("{} rows of the gradient each", plan.program.kernel.steps);
  }
  return fmt::format(
      "tokens of each row of cores each; {}; each sends its own sums of every element out, which "
      "are added outside{}",
      plan.program.source.empty() ? "idealised: indices enter in every group and are paid for once"
                                  : "indices enter once, a row of routers copies them",
      plan.padding == 0 ? "" : fmt::format("; {} tokens of padding", plan.padding));
}

/// Runs the parts of a weight gradient one after the other.
class GradientRun : StreamRun {
 public:
  explicit GradientRun(const WaferRequest& request)
      : StreamRun(request), job_(gradient_job(op_, request.mask)) {
    job_.values = execution_.values;
    job_.seed = request.seed;
  }

  OpResult run() {
    into_.products(std::uint64_t{op_.m} * op_.k * op_.n, 0);
    if (execution_.values) result_.values.emplace();
    for_each_part([&](const GradientPlan& plan) { add(plan); });
    into_.counted(std::move(counts_), result_.sram_read_bytes, result_.sram_write_bytes);
    result_.statistics.insert(result_.statistics.end(), limits_.begin(), limits_.end());
    if (parts_ > 1) {
      into_.note("parts",
                 fmt::format("{}, one after the other: as many rows at a time as leave room for "
                             "their dot products",
                             parts_));
    }
    into_.one_phase("stream");
    if (execution_.view != 0) add_units();
    OpResult taken = into_.take();
    if (taken.units_in_time != nullptr) check_units(*taken.units_in_time, taken);
    return taken;
  }

 private:
  template <class Visit>
  void for_each_part(const Visit& visit) const {
    wse::plan_gradient_parts(job_, streaming_setup(params_), visit);
  }

  void add(const GradientPlan& plan) {
    const WaferOutcome outcome = simulate(plan);
    if (parts_++ == 0) {
      fill_peaks(plan);
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
    lacuna::add(counts_, wafer_counts(stats), 1);
    stats.limits.add_to(limits_);
    into_.events(outcome.events, result_.cycles);
    if (execution_.values) check_values(job_, plan, outcome, *result_.values);
    result_.cycles += outcome.cycles;
  }

  /// Rows as lanes where that can be, unit by unit elsewhere; with the same result. Intervals, of
  /// which the borders but the last are noted, need the units.
  WaferOutcome simulate(const GradientPlan& plan) {
    wse::RunOptions options = this->options();
    if (execution_.interval != 0) {
      const Cycle before = result_.cycles;
      options.first_look = execution_.interval - before % execution_.interval;
      options.look = [this, &plan, before](Cycle at, wse::CountedWafer& wafer) {
        wse::WaferStats stats;
        stats.collect_gradient(wafer.counts_so_far(at), plan.program, hardware_, plan.rows_off);
        CountsSoFar so_far = counts_;
        lacuna::add(so_far, wafer_counts(stats), 1);
        into_.border(before + at, std::move(so_far));
        return at + execution_.interval;
      };
    } else if (execution_.fold && !execution_.values) {
      if (parts_ == 0) {
        not_folded_ = wse::reason_not_to_fold_gradient(hardware_, plan.program, options);
        if (not_folded_.empty()) not_folded_ = "a row was not ready for the chain when it came";
      }
      if (auto lanes = wse::fold_gradient(hardware_, plan.program, options)) {
        if (parts_ == 0) {
          fold_ = fmt::format(
              "{} of {} rows simulated while the stream runs, the others do the same, later; "
              "in the chain what leaves the wafer says what all rows do",
              lanes->streamed, plan.program.rows);
        }
        return std::move(lanes->outcome);
      }
    }
    if (!execution_.fold) not_folded_ = "switched off";
    if (execution_.values) not_folded_ = "each row carries values of its own";
    if (execution_.interval != 0) not_folded_ = "counts of intervals need every unit";
    return wse::simulate(hardware_, plan.program, options);
  }

  void fill_notes(const GradientPlan& plan) {
    note_elements(plan, "tokens");
    into_.memory(plan.bytes, plan.limit);
    note_io(plan);
    note_groups(plan, shared_text(plan));
    if (plan.element_shares != 1 && plan.program.source.empty()) {
      result_.remarks.emplace_back(
          "idealised (ws.copies): indices enter in every group and are paid for once, which no "
          "hardware does");
    }
    into_.note("fold", fold_.empty() ? "every row is simulated: " + not_folded_ : fold_);
  }

  /// What the parts did over time: they are run once more, now that all cycles are known.
  struct Shown {
    wse::Program program;
    Cycle before = 0;  // of the parts that were shown
    WaferOutcome run;
    std::vector<GradientMark> marks;
    std::vector<Event> records;
  };

  void add_units() {
    Shown shown;
    for_each_part([&](const GradientPlan& plan) { show(plan.program, shown); });
    shown.run.cycles = shown.before;
    auto series = std::make_shared<UnitSeries>(
        gradient_series(std::move(shown.marks), shown.run, shown.program, hardware_));
    if (execution_.path) {
      sort_all(shown.records, [](const Event& a, const Event& b) { return a.cycle < b.cycle; });
      series->path = path_of(std::move(shown.records), shown.program, window_in(shown.program));
    }
    result_.units_in_time = std::move(series);
  }

  PathWindow window_in(const wse::Program& program) const {
    return fitted(*execution_.path, program.columns, program.rows, result_.cycles);
  }

  /// A part, whose cores are looked at where steps end.
  void show(const wse::Program& program, Shown& shown) const {
    WaferOutcome& run = shown.run;
    if (run.cores.empty()) {
      shown.program = program;
      run.cores.resize(std::size_t{program.columns} * program.rows);
      run.routers.resize(run.cores.size());
    }
    const auto add_to = [](std::vector<wse::CoreCounters>& sums,
                           const std::vector<wse::CoreCounters>& part) {
      for (std::size_t i = 0; i < part.size(); ++i) sums[i].add(part[i], 1);
    };
    const Cycle length = step_length(result_.cycles, execution_.view);
    wse::RunOptions options = this->options();
    options.event_log = false;
    options.first_look = length - shown.before % length;
    options.look = [&](Cycle at, wse::CountedWafer& wafer) {
      wse::require_marks((shown.marks.size() + 1) * run.cores.size());
      GradientMark mark{shown.before + at, run.cores};
      add_to(mark.cores, wafer.counts_so_far(at).cores);
      if (mark.at < result_.cycles) shown.marks.push_back(std::move(mark));
      return at + length;
    };
    const WaferOutcome part = wse::simulate(hardware_, program, options);
    if (execution_.path) record(program, part.cycles, shown);
    add_to(run.cores, part.cores);
    for (std::size_t i = 0; i < part.routers.size(); ++i) run.routers[i].add(part.routers[i], 1);
    shown.before += part.cycles;
  }

  /// The records of a part that the window meets.
  void record(const wse::Program& program, Cycle cycles, Shown& shown) const {
    PathWindow window = window_in(program);
    if (window.to <= shown.before || window.from >= shown.before + cycles) return;
    window.from -= std::min(window.from, shown.before);
    window.to -= shown.before;
    for (Event event : records_of(program, wse::no_fold(program, ""), window)) {
      event.cycle += shown.before;
      shown.records.push_back(event);
    }
  }

  GradientJob job_;
  CountsSoFar counts_;
  std::vector<StatEntry> limits_;
  std::string fold_;
  std::string not_folded_;  // if it is empty
  std::uint32_t parts_ = 0;
};

}  // namespace

OpResult run_gradient(const WaferRequest& request) {
  OpResult result = GradientRun(request).run();
  result.mode = word(request.mask != nullptr ? Mode::streamed : Mode::dense);
  add_moves(request, false, result);
  return result;
}

OpResult run_dense_gradient(const WaferRequest& request) {
  const bool by_x = request.op.x_pattern != "dense";
  OpResult result = run_kept(request, by_x);
  result.mode = word(Mode::dense);
  if (by_x) {
    const auto run = [](const WaferRequest& whole) { return run_streamed(whole, true); };
    add_filter_remark(request, run, result);
  }
  result.notes.emplace_back(
      "operands", by_x ? "X, made on the wafer, has left it before and is streamed in; W lies with "
                         "its k along columns"
                       : "W, made on the wafer, has left it before and is streamed in as weights "
                         "are; X lies with its k along columns");
  if (is_sampled_gradient(request.op)) {
    result.notes.emplace_back(
        "results", "every element is made and stays in the cores, those of zero weights unused");
  }
  add_moves(request, by_x, result);
  return result;
}

}  // namespace lacuna

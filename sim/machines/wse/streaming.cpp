// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/streaming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/wse/engine/fold.hpp"
#include "models/wse/engine/resident/held_rows.hpp"
#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/row_marks.hpp"
#include "models/wse/simulate.hpp"
#include "models/wse/wafer_intervals.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/explain.hpp"
#include "sim/machines/wse/gradient_op.hpp"
#include "sim/machines/wse/products_formed.hpp"
#include "sim/machines/wse/stream_check.hpp"
#include "sim/machines/wse/stream_run.hpp"
#include "sim/machines/wse/view/core_series.hpp"
#include "sim/machines/wse/view/critical_path.hpp"

namespace lacuna {
namespace {

using wse::ColumnGroups;
using wse::FoldPlan;
using wse::StreamingJob;
using wse::StreamingPlan;
using wse::WaferOutcome;

/// A run of a folded wafer that is not proven is repeated with more rows while it had at most so
/// many cores.
constexpr std::uint64_t kMostCoresRepeated = 16384;

struct Simulated {
  StreamingPlan plan;
  WaferOutcome outcome;
  FoldPlan fold;
  std::size_t rows = 0;  // that were simulated
  bool proven = true;
  std::string not_in_lanes;  // why; empty if it was
  Cycle cycles = 0;
  std::vector<std::pair<Cycle, CountsSoFar>> borders;  // but the end
};

class StreamedOperation : StreamRun {
 public:
  StreamedOperation(const WaferRequest& request, const StreamingJob& job, RowSample* sample)
      : StreamRun(request), job_(job), sample_(sample) {}

  OpResult run();

 private:
  Simulated simulate_best();
  Simulated simulate_form(bool packed) const { return simulate_form(packed, limit()); }
  Simulated simulate_form(bool packed, Cycle limit) const;
  Cycle limit() const { return params_.runs == nullptr ? kNever : params_.runs->limit; }
  void simulate(Simulated& run, Cycle limit) const;
  bool simulate_rows_in_lanes(const wse::RunOptions& options, Simulated& run) const;
  void simulate_folded(const wse::RunOptions& options, Simulated& run) const;
  void simulate_sample(const wse::RunOptions& options, Simulated& run) const;
  void simulate_rows(const wse::Program& kept, wse::RunOptions options, Simulated& run) const;
  UnitSeries units_of(const Simulated& run) const;
  void fill_work(const Simulated& run);
  void fill_notes(const Simulated& run);
  void add_records(const Simulated& run);

  /// Resident weights without their zeros: what is streamed needs an index.
  bool holds_nonzeros() const {
    return job_.resident && job_.gemm.mask != nullptr &&
           params_.resident.storage == wse::ResidentStorage::nonzeros;
  }

  const StreamingJob& job_;
  RowSample* const sample_;  // null: all rows
};

/// A stream that leaves nothing out can be sent with indices or without; the faster counts.
Simulated StreamedOperation::simulate_best() {
  const bool filters = params_.ws.zero_filter &&
                       (job_.resident ? job_.x_mask != nullptr : job_.gemm.mask != nullptr);
  const wse::IndexBits bits = params_.ws.index_bits;
  if (filters || holds_nonzeros()) return simulate_form(false);
  if (bits != wse::IndexBits::automatic) return simulate_form(bits == wse::IndexBits::none);
  // only what passes the limit in both forms is given up
  std::optional<Simulated> packed;
  try {
    packed = simulate_form(true);
  } catch (const CycleLimitPassed&) {
  }
  Simulated indexed = simulate_form(false, packed ? kNever : limit());
  if (!packed) packed = simulate_form(true, kNever);
  wse::UnfilteredStats stats;
  stats.indexed += indexed.cycles;
  stats.packed += packed->cycles;
  into_.group(stats);
  const bool is_packed = packed->cycles < indexed.cycles;
  into_.note("stream",
             fmt::format("{} cycles with an index for each value, {} packed without; {} taken",
                         indexed.cycles, packed->cycles, is_packed ? "packed" : "indexed"));
  return is_packed ? *std::move(packed) : std::move(indexed);
}

Simulated StreamedOperation::simulate_form(bool packed, Cycle limit) const {
  StreamingJob job = job_;
  job.packed = packed;
  Simulated run;
  run.plan = wse::plan_streaming(job, streaming_setup(params_));
  simulate(run, limit);
  run.cycles = wse::full_cycles(run.outcome, run.fold, run.plan.program, params_.router);
  return run;
}

void StreamedOperation::simulate(Simulated& run, Cycle limit) const {
  const wse::Program& program = run.plan.program;
  wse::RunOptions options = this->options();
  options.limit = limit;
  if (sample_ != nullptr) return simulate_sample(options, run);
  run.not_in_lanes = "lanes keep no time";
  if (execution_.interval == 0) {
    if (auto lanes = wse::stream_in_lanes(hardware_, program, options, &run.not_in_lanes)) {
      run.outcome = std::move(lanes->kept);
      run.fold = std::move(lanes->fold);
      run.rows = lanes->groups;
      if (execution_.values) run.fold.refused = "each row carries values of its own";
      if (!execution_.fold) run.fold.refused = "switched off";
      return;
    }
  }
  if (execution_.interval != 0 && simulate_rows_in_lanes(options, run)) return;
  if (!execution_.fold || options.modules) {
    run.rows = program.rows;
    run.fold = wse::no_fold(program, options.modules ? "each core is a module" : "switched off");
    simulate_rows(program, options, run);
    return;
  }
  simulate_folded(options, run);
}

/// Of intervals: lanes, which keep no time, say which rows do things of their own, and these
/// are stepped once. False if they cannot.
bool StreamedOperation::simulate_rows_in_lanes(const wse::RunOptions& options,
                                               Simulated& run) const {
  const wse::Program& program = run.plan.program;
  // what lanes have folded is proven for lanes, which do not mark rows behind some that copy
  if (!execution_.fold || options.modules || program.distribution_rows != 0) return false;
  if (!program.kernel.held.empty()) return false;  // all do
  auto lanes = wse::stream_in_lanes(hardware_, program, options);
  if (!lanes) return false;
  const Cycle cycles = wse::full_cycles(lanes->kept, lanes->fold, program, params_.router);
  run.fold = std::move(lanes->fold);
  if (execution_.values) run.fold = wse::no_fold(program, "each row carries values of its own");
  const wse::Program kept = wse::fold(program, run.fold);
  require_stepped(std::uint64_t{kept.rows} * kept.columns, cycles);
  simulate_rows(kept, options, run);
  const Cycle stepped = wse::full_cycles(run.outcome, run.fold, program, params_.router);
  if (stepped != cycles) {
    throw InternalError(fmt::format("{} cycles of rows stepped one by one are {} of rows in lanes",
                                    stepped, cycles));
  }
  run.rows = kept.rows;
  return true;
}

/// A slower class holds up the last rows of the class above; how many, is found by trying.
void StreamedOperation::simulate_folded(const wse::RunOptions& options, Simulated& run) const {
  const wse::Program& program = run.plan.program;
  for (std::uint32_t tail = 1;; tail *= 4) {
    run.fold = wse::plan_fold(program, hardware_, options, tail);
    simulate_rows(wse::fold(program, run.fold), options, run);
    run.proven = wse::proves_fold(run.outcome, run.fold);
    run.rows = run.fold.kept.size();
    const std::size_t simulated = run.fold.kept.size() * program.columns;
    if (run.proven || simulated > kMostCoresRepeated) return;
  }
}

void StreamedOperation::simulate_sample(const wse::RunOptions& options, Simulated& run) const {
  const wse::Program& program = run.plan.program;
  if (!wse::samples_rows(hardware_, program)) {
    throw UnsupportedError(
        "rows of cores that all differ and do not run in lanes take long to simulate");
  }
  wse::SampledRows sampled = wse::run_sampled(hardware_, program, sample_->rows, options);
  sample_->cycles = sampled.cycles;
  sample_->fullest = sampled.fullest;
  run.fold = std::move(sampled.sample);
  run.outcome = std::move(sampled.outcome);
  run.rows = run.fold.kept.size();
}

/// Simulates `kept`, the rows that the fold keeps, and looks at them at each border.
void StreamedOperation::simulate_rows(const wse::Program& kept, wse::RunOptions options,
                                      Simulated& run) const {
  run.borders.clear();
  if (execution_.interval == 0) {
    run.outcome = wse::simulate(hardware_, kept, options);
    return;
  }
  wse::WaferIntervals intervals(run.plan.program, run.fold, hardware_, run.plan.rows_off,
                                execution_.interval);
  intervals.watch(options);
  run.outcome = wse::simulate(hardware_, kept, options);
  intervals.for_each_border(run.outcome, [&](Cycle at, const wse::WaferStats& stats) {
    run.borders.emplace_back(at, wafer_counts(stats));
  });
}

/// Runs the plan again, with marks at the ends of steps, now that the cycles are known. What is not
/// lanes has the rows simulated that `run` had.
UnitSeries StreamedOperation::units_of(const Simulated& run) const {
  const wse::Program& program = run.plan.program;
  const Cycle length = step_length(run.cycles, execution_.view);
  wse::RunOptions options = this->options();
  options.event_log = false;
  options.marks = length;
  if (const auto lanes = wse::stream_in_lanes(hardware_, program, options)) {
    return core_series(
        {run.plan, hardware_, lanes->kept, lanes->fold, lanes->marks, length, job_.resident});
  }
  const Cycle hop = wse::QueueShapes(params_.router).link().latency;
  // what lanes have folded is proven for lanes, which do not mark rows behind some that copy
  const FoldPlan fold = program.distribution_rows == 0 ? run.fold : wse::no_fold(program, "");
  wse::RowWatch watch(fold, program.columns, hop, length);
  watch.watch(options);
  const WaferOutcome kept = wse::simulate(hardware_, wse::fold(program, fold), options);
  return core_series({run.plan, hardware_, kept, fold, watch.take(), length, job_.resident});
}

void StreamedOperation::fill_work(const Simulated& run) {
  wse::WaferStats stats;
  stats.collect(run.outcome, run.fold, run.plan.program, hardware_, run.plan.rows_off);
  if (sample_ != nullptr) wse::know_products(run.plan.useful, stats.core);
  const std::uint64_t formed = stats.core.mac16.value() + stats.core.mac32.value() +
                               stats.core.mac_fp32.value() + stats.core.mac_int8.value();
  const std::uint64_t all = std::uint64_t{op_.m} * op_.k * op_.n * op_.batch;
  // a sample has no products of its own
  const std::uint64_t outside =
      sample_ != nullptr ? 0 : wse::products_outside(run.plan, formed, all, holds_nonzeros());
  into_.products(all, run.plan.useful);
  stats.core.mac_edge += outside;
  stats.core.mac_skipped += all + outside - formed;
  stats.core.mac_zero += formed - outside - run.plan.useful;
  stats.edge.zero_tests += run.plan.tested;
  stats.edge.left_out += run.plan.left_out;
  stats.router.left_out += run.plan.left_out * run.plan.program.rows;
  into_.counted(stats);
  if (run.plan.tested_at_cores == 0) return;
  const wse::Program& program = run.plan.program;
  wse::ReceiverFilterStats filter;
  filter.tests += run.plan.tested_at_cores * (program.rows - program.distribution_rows);
  filter.dropped +=
      (run.plan.tested_at_cores - run.plan.weights) * (program.rows - program.distribution_rows);
  into_.group(filter);
}

/// What the groups of columns share, and where their results go.
std::string shared_text(const StreamingPlan& plan, bool resident) {
  const wse::StreamingKernel& kernel = plan.program.kernel;
  if (plan.element_shares != 1) {
    return fmt::format(
        "{} of each row of cores each; {}{}", resident ? "outputs" : "tokens",
        plan.program.source.empty()
            ? "idealised: each stream enters in every group and is paid for once"
            : fmt::format("each stream enters once, {} row{} of routers copy it to the others",
                          plan.program.distribution_rows,
                          plan.program.distribution_rows == 1 ? "" : "s"),
        plan.padding == 0 ? "" : fmt::format("; {} of padding", plan.padding));
  }
  std::string text =
      fmt::format("{} rows of {} each", kernel.steps, resident ? "activations" : "weights");
  if (plan.empty_rows != 0) text += fmt::format(", {} of them empty", plan.empty_rows);
  if (!kernel.exchange.on()) {
    return text + "; each result stays in its group, and the next operation finds it there";
  }
  return text + fmt::format("; {} packets of each column go to the other groups on {} buses",
                            kernel.exchange.packets, kernel.exchange.buses.size());
}

void StreamedOperation::fill_notes(const Simulated& run) {
  const StreamingPlan& plan = run.plan;
  const auto note = [&](const char* key, std::string text) { into_.note(key, std::move(text)); };
  const char* const elements = job_.resident ? "outputs" : "tokens";
  note_elements(plan, elements);
  if (plan.rows_off != 0) {
    note(job_.resident ? "rows without outputs" : "rows without tokens",
         fmt::format("{}", plan.rows_off));
  }
  note("features per column",
       job_.resident ? fmt::format("{}", plan.most_features)
                     : fmt::format("{} in, {} out", plan.most_features, plan.most_outputs));
  into_.memory(plan.bytes, plan.limit);
  note_groups(plan, shared_text(plan, job_.resident));
  if (plan.element_shares != 1 && plan.program.source.empty()) {
    result_.remarks.emplace_back(
        "idealised (ws.copies): each stream enters in every group and is paid for once, which no "
        "hardware does; the time is a bound of what copies can cost");
  }
  note("lookahead", fmt::format("{}", params_.ws.lookahead.value()));
  note_io(plan);
  if (plan.tree_block != 0) {
    note("reduction",
         fmt::format("trees of {} columns, as a core has input queues for, and a chain "
                     "of them",
                     plan.tree_block));
  }
  const auto heaviest = std::max_element(plan.column_weights.begin(), plan.column_weights.end());
  note("heaviest column",
       fmt::format("{} with {} of {} {}, mean {:.6g}", heaviest - plan.column_weights.begin(),
                   *heaviest, plan.weights, job_.resident ? "activations" : "weights",
                   static_cast<double>(plan.weights) / static_cast<double>(plan.streams())));
  if (execution_.explain) {
    note("simulated",
         run.not_in_lanes.empty() ? "in lanes" : "unit by unit; not in lanes: " + run.not_in_lanes);
  }
  const std::string rows = fmt::format("{} of {} rows", run.rows, plan.program.rows);
  if (sample_ != nullptr) {
    note("fold", rows + ", which all differ, simulated: a sample");
  } else if (run.rows < plan.program.rows) {
    note("fold", rows + fmt::format(" simulated, {} classes", run.fold.classes));
  } else {
    note("fold", run.fold.refused.empty()
                     ? std::string("every row is simulated, none repeats another")
                     : fmt::format("every row is simulated: {}", run.fold.refused));
  }
}

/// What was asked for beside the counts.
void StreamedOperation::add_records(const Simulated& run) {
  const wse::Program& program = run.plan.program;
  for (const auto& [at, counts] : run.borders) into_.border(at, counts);
  if (execution_.view != 0) {
    result_.units_in_time = std::make_shared<UnitSeries>(units_of(run));
    check_units(*result_.units_in_time, result_);
    if (execution_.path) {
      const PathWindow window = fitted(*execution_.path, program.columns, program.rows, run.cycles);
      const FoldPlan fold =
          program.distribution_rows == 0 && execution_.fold ? run.fold : wse::no_fold(program, "");
      result_.units_in_time->path = path_of(records_of(program, fold, window), program, window);
    }
  }
  if (execution_.event_log) {
    into_.events(run.fold.folds()
                     ? wse::unfold(run.outcome, run.fold, program, params_.router).events
                     : run.outcome.events);
    into_.event_names(program.rows, program.columns, program.columns);
  }
  if (execution_.explain) {
    result_.explanation = explain_wse({run.plan, run.outcome, run.fold, hardware_, run.cycles});
  }
  if (execution_.values) result_.values = check_streamed(job_, run.plan, run.outcome);
}

OpResult StreamedOperation::run() {
  const Simulated run = simulate_best();
  result_.cycles = run.cycles;
  result_.exact = run.proven && sample_ == nullptr;
  if (!run.proven) {
    result_.approximations.emplace_back(
        "folded, although a slower row held up the rows above it; --fold off simulates all");
  }
  if (sample_ != nullptr) {
    result_.approximations.push_back(fmt::format(
        "{} of {} rows of cores, whose non-zeros all differ, stand for all of them, which would "
        "take {} cycles if each held as much as any; residency resident simulates "
        "all",
        run.rows, run.plan.program.rows, sample_->fullest));
    result_.remarks.push_back("not exact: " + result_.approximations.back());
  }
  fill_work(run);
  fill_peaks(run.plan);
  fill_notes(run);
  into_.one_phase("stream");
  add_records(run);
  return into_.take();
}

}  // namespace

void require_stepped(std::uint64_t cores, Cycle cycles) {
  constexpr double kMost = 2e9;  // cycles of cores, of which three millions pass in a second
  if (static_cast<double>(cores) * static_cast<double>(cycles) <= kMost) return;
  throw UnsupportedError(fmt::format(
      "--interval: {} cores that do things of their own, each {} cycles long, would be stepped one "
      "by one, as words under way at a border count where they are; at most {:g} cycles of cores; "
      "fewer cores (wafer.columns, wafer.rows) have fewer, and --view has the run over time "
      "without that",
      cores, cycles, kMost));
}

wse::StreamingSetup streaming_setup(const WseParams& params) {
  return {params.wafer,       params.core,       params.queue,      params.mem,   params.simd,
          params.ws,          params.io,         params.map,        params.clock, params.resident,
          params.zero_filter, params.router.hop, params.router.ramp};
}

wse::StreamingJob streaming_job(const LayerOp& op, const Mask* mask, bool resident,
                                std::uint64_t beside) {
  StreamingJob job;
  job.gemm.m = op.m;
  job.gemm.k = op.k;
  job.gemm.n = op.n;
  job.gemm.dtype = op.dtype;
  job.gemm.partials = op.partials;
  (is_sampled_gradient(op) ? job.used : job.gemm.mask) = mask;
  job.batch = op.batch;
  job.resident = resident;
  job.beside = beside;
  return job;
}

OpResult run_streamed(const WaferRequest& request, bool resident, RowSample* sample) {
  const LayerOp& op = request.op;
  StreamingJob job = streaming_job(op, request.mask, resident, op.share.beside);
  job.gemm.values = request.execution.values;
  job.gemm.seed = request.seed;
  const std::optional<Mask> x_mask = x_mask_of(op, request.seed);
  if (x_mask) job.x_mask = &*x_mask;
  OpResult result = StreamedOperation(request, job, sample).run();
  if (x_mask) result.x_density = x_mask->density();
  return result;
}

}  // namespace lacuna

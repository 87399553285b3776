// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "models/common/fp16.hpp"
#include "models/wse/fold.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/base/error.hpp"
#include "sim/driver/machine.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {
namespace {

using wse::FoldPlan;
using wse::StreamingPlan;
using wse::WaferOutcome;

/// A run of a folded wafer that is not proven is repeated in full up to so many cores.
constexpr std::uint64_t kMostCoresRepeated = 16384;

struct WseParams : ParameterSet {
  Param<double> clock = param(this, "clock", 0.85, range(0.001, 100.0), "GHz",
                              "Clock of cores and fabric; turns cycles into seconds.");
  Group<wse::WaferParams> wafer = group(this, "wafer", "The simulated rectangle.");
  Group<wse::CoreParams> core = group(this, "core", "A core: dispatch and issue.");
  Group<wse::QueueParams> queue = group(this, "queue", "Queues between core and ramp.");
  Group<wse::RouterParams> router = group(this, "router", "Routers, links and ramps.");
  Group<wse::MemoryParams> mem = group(this, "mem", "The memory of a core.");
  Group<wse::SimdParams> simd = group(this, "simd", "Elements per cycle of the datapath.");
  Group<wse::StreamingParams> ws = group(this, "ws", "Weight streaming.");
  Group<wse::IoParams> io = group(this, "io", "The edge of the wafer.");
  Group<wse::MapParams> map = group(this, "map", "Placement of operands in memory.");
  Group<EnergyParams> energy = group(this, "energy", "What pricing needs to know.");
};

struct Simulated {
  WaferOutcome outcome;
  FoldPlan fold;
  bool proven = true;
};

class WseMachine final : public Machine {
 public:
  explicit WseMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "wse"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return params_.energy; }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }
  Mode default_mode() const override { return Mode::streamed; }

  void check() const override {
    const unsigned words = params_.core.fabric_words_per_issue;
    if (params_.queue.ring_in + params_.router.ramp - 1 < words) {
      throw ParameterError(
          fmt::format("queue.ring_in = {} with router.ramp = {} can never hold the {} words that "
                      "core.fabric_words_per_issue asks for",
                      params_.queue.ring_in.value(), params_.router.ramp.value(), words));
    }
    if (params_.wafer.columns > params_.wafer.program_columns) {
      throw ParameterError(fmt::format("wafer.columns = {} is more than wafer.program_columns = {}",
                                       params_.wafer.columns.value(),
                                       params_.wafer.program_columns.value()));
    }
  }

  std::string extent() const override {
    return fmt::format("{} x {} of {} cores", params_.wafer.columns.value(),
                       params_.wafer.rows.value(), params_.wafer.cores.value());
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  wse::StreamingSetup setup() const {
    return {params_.wafer, params_.core, params_.queue, params_.mem,  params_.simd,
            params_.ws,    params_.io,   params_.map,   params_.clock};
  }
  wse::HardwareParams hardware() const { return {params_.core, params_.queue, params_.router}; }

  void require_supported(const LayerOp& op) const;
  Simulated simulate(const StreamingPlan& plan, const Execution& execution) const;
  void fill_work(const LayerOp& op, const Mask* mask, const StreamingPlan& plan,
                 const Simulated& run, OpResult& result) const;
  void fill_peaks(const StreamingPlan& plan, OpResult& result) const;
  void fill_notes(const StreamingPlan& plan, const Simulated& run, OpResult& result) const;
  void fill_events(const StreamingPlan& plan, const Simulated& run, OpResult& result) const;

  std::string name_;
  WseParams params_;
};

void WseMachine::require_supported(const LayerOp& op) const {
  const auto refuse = [&](const std::string& what) {
    throw UnsupportedError(fmt::format("{}: a wafer cannot run {} yet", name_, what));
  };
  if (op.op != "gemm" && op.op != "spmm") refuse(fmt::format("op '{}'", op.op));
  if (op.mode != Mode::automatic && op.mode != Mode::streamed) {
    refuse(fmt::format("mode '{}' (streamed is possible)", word(op.mode)));
  }
  if (op.dtype != DType::fp16) {
    refuse(fmt::format("dtype '{}' streamed: a weight wavelet holds an fp16 value and an index",
                       word(op.dtype)));
  }
  if (op.partials == Partials::int32) refuse("int32 partial sums of fp16 products");
  if (op.batch != 1) refuse(fmt::format("batch {} of streamed weights", op.batch));
}

Simulated WseMachine::simulate(const StreamingPlan& plan, const Execution& execution) const {
  const wse::Program& program = plan.program;
  const wse::RunOptions options{execution.engine,      execution.shuffle,   execution.jitter,
                                execution.jitter_seed, execution.event_log, execution.fold};
  Simulated run;
  run.fold =
      execution.fold ? wse::plan_fold(program, options) : wse::no_fold(program, "switched off");
  if (!run.fold.folds()) {
    run.outcome = wse::simulate(hardware(), program, options);
    return run;
  }
  run.outcome = wse::simulate(hardware(), wse::fold(program, run.fold), options);
  run.proven = wse::proves_fold(run.outcome);
  const std::uint64_t cores = std::uint64_t{program.rows} * program.columns;
  if (!run.proven && cores <= kMostCoresRepeated) {
    run.fold = wse::no_fold(program, "a slower row held up the rows above it");
    run.outcome = wse::simulate(hardware(), program, options);
    run.proven = true;
  }
  return run;
}

void WseMachine::fill_work(const LayerOp& op, const Mask* mask, const StreamingPlan& plan,
                           const Simulated& run, OpResult& result) const {
  wse::WaferStats stats;
  stats.collect(run.outcome, run.fold, plan.program, hardware(), plan.rows_off);
  result.mac_algorithmic = std::uint64_t{op.m} * op.k * op.n;
  result.mac_useful = plan.weights * op.n;
  stats.core.mac_skipped += result.mac_algorithmic - result.mac_useful;
  if (mask != nullptr) {
    stats.edge.zero_tests += std::uint64_t{op.m} * op.k;
    stats.edge.zeros += std::uint64_t{op.m} * op.k - plan.weights;
  }
  result.sram_read_bytes = stats.sram_read_bytes;
  result.sram_write_bytes = stats.sram_write_bytes;
  result.fabric_bytes = stats.router.hops.value() * 4;
  result.io_bytes = stats.edge.words.value() * 4;
  for (const StatGroup* group :
       {static_cast<const StatGroup*>(&stats.core), static_cast<const StatGroup*>(&stats.router),
        static_cast<const StatGroup*>(&stats.edge)}) {
    group->add_to(result.statistics);
    group->add_to(result.stack);
  }
}

void WseMachine::fill_peaks(const StreamingPlan& plan, OpResult& result) const {
  const auto units = static_cast<double>(result.units);
  const wse::Rate& rate = plan.program.rate;
  result.peaks.flop_per_cycle = 2.0 * plan.program.kernel.simd * units;
  result.peaks.sram_bytes_per_cycle =
      (params_.mem.read_bits + params_.mem.write_bits) / 8.0 * units;
  if (params_.mem.model == wse::MemoryModel::none) {
    result.peaks.sram_bytes_per_cycle = 64.0 * plan.program.kernel.simd * units;
  }
  result.peaks.fabric_bytes_per_cycle = 4 * 4.0 * units;
  result.peaks.io_bytes_per_cycle =
      4.0 * static_cast<double>(rate.words) / static_cast<double>(rate.per);
}

void WseMachine::fill_notes(const StreamingPlan& plan, const Simulated& run,
                            OpResult& result) const {
  const auto note = [&](const char* key, std::string text) {
    result.notes.emplace_back(key, std::move(text));
  };
  const auto& tokens = plan.program.kernel.tokens;
  note("rectangle", fmt::format("{} columns x {} rows of {} cores", params_.wafer.columns.value(),
                                params_.wafer.rows.value(), params_.wafer.cores.value()));
  note("tokens per core", tokens.front() == tokens.back()
                              ? fmt::format("{}", tokens.front())
                              : fmt::format("{} to {}", tokens.back(), tokens.front()));
  if (plan.rows_off != 0) note("rows without tokens", fmt::format("{}", plan.rows_off));
  note("features per column", fmt::format("{} in, {} out", plan.most_features, plan.most_outputs));
  note("memory per core", fmt::format("{} of {} bytes", plan.bytes, plan.limit));
  note("lookahead", fmt::format("{}", params_.ws.lookahead.value()));
  note("io share", fmt::format("{:.6g} of the wafer, {}/{} wavelets per cycle", plan.io_share,
                               plan.program.rate.words, plan.program.rate.per));
  const auto heaviest = std::max_element(plan.column_weights.begin(), plan.column_weights.end());
  note("heaviest column",
       fmt::format(
           "{} with {} of {} weights, mean {:.6g}", heaviest - plan.column_weights.begin(),
           *heaviest, plan.weights,
           static_cast<double>(plan.weights) / static_cast<double>(plan.column_weights.size())));
  if (run.fold.folds()) {
    note("fold", fmt::format("{} of {} rows simulated, {} classes", run.fold.kept.size(),
                             plan.program.rows, run.fold.classes));
  } else {
    note("fold", run.fold.refused.empty()
                     ? std::string("every row is simulated, none repeats another")
                     : fmt::format("every row is simulated: {}", run.fold.refused));
  }
}

void WseMachine::fill_events(const StreamingPlan& plan, const Simulated& run,
                             OpResult& result) const {
  const wse::Program& program = plan.program;
  result.events = run.outcome.events;
  if (run.fold.folds()) {
    result.events = wse::unfold(run.outcome, run.fold, program, params_.router).events;
  }
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

/// Compares what the cores hold with the product in their own arithmetic and order of additions;
/// the largest error is that of this arithmetic against exact integers.
ValueCheck check_values(const GemmProblem& problem, const StreamingPlan& plan,
                        const WaferOutcome& outcome) {
  ValueCheck check;
  const auto expected = wse::streaming_reference(plan.program);
  const std::vector<std::int64_t> exact = reference_product(problem);
  const wse::StreamingKernel& kernel = plan.program.kernel;
  std::vector<std::size_t> next(outcome.results.size(), 0);
  for (std::uint32_t step = 0; step < kernel.steps; ++step) {
    std::uint64_t token = 0;
    for (std::uint32_t r = 0; r < plan.program.rows; ++r) {
      const std::size_t core = std::size_t{r} * plan.program.columns + kernel.final_column[step];
      for (std::uint32_t t = 0; t < kernel.tokens[r]; ++t, ++token) {
        const std::size_t place = next[core]++;
        const bool there = place < outcome.results[core].size();
        const Half y = there ? outcome.results[core][place] : Half{0};
        ++check.compared;
        if (!there || y != expected[core][place]) ++check.wrong;
        const auto reference =
            static_cast<double>(exact[std::uint64_t{plan.row_of_step[step]} * problem.n + token]);
        check.largest_error = std::max(check.largest_error, std::abs(to_float(y) - reference));
      }
    }
  }
  return check;
}

OpResult WseMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
  require_supported(op);
  GemmProblem problem;
  problem.m = op.m;
  problem.k = op.k;
  problem.n = op.n;
  problem.dtype = op.dtype;
  problem.partials = op.partials;
  problem.mask = mask;
  problem.values = execution.values;
  problem.seed = seed;
  const StreamingPlan plan = wse::plan_streaming(problem, setup());
  const Simulated run = simulate(plan, execution);

  OpResult result;
  result.cycles = wse::full_cycles(run.outcome, run.fold, plan.program, params_.router);
  result.clock_ghz = params_.clock;
  result.units = std::uint64_t{params_.wafer.columns} * params_.wafer.rows;
  result.exact = run.proven;
  if (!run.proven) {
    result.approximations.emplace_back(
        "folded, although a slower row held up the rows above it; --fold off simulates all");
  }
  fill_work(op, mask, plan, run, result);
  fill_peaks(plan, result);
  fill_notes(plan, run, result);
  if (execution.event_log) fill_events(plan, run, result);
  if (execution.values) result.values = check_values(problem, plan, run.outcome);
  return result;
}

}  // namespace

std::unique_ptr<Machine> make_wse_machine(std::string name) {
  return std::make_unique<WseMachine>(std::move(name));
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/simulate.hpp"
#include "models/wse/task_stats.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/result_sequence.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/explain_tasks.hpp"
#include "sim/machines/wse/gradient_op.hpp"
#include "sim/machines/wse/kernel_stats.hpp"
#include "sim/machines/wse/result.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/view/critical_path.hpp"
#include "sim/machines/wse/view/layer_path.hpp"
#include "sim/machines/wse/view/layer_series.hpp"
#include "workloads/mapping/wse/layers/move.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

using wse::LayerPlan;
using wse::LayerStage;
using wse::TaskOutcome;

/// Without folding every core is simulated; more than so many are not meant.
constexpr std::uint64_t kMostCoresUnfolded = 262144;

/// Columns and rows of a kernel, or of the wafer.
std::pair<std::uint32_t, std::uint32_t> extent_of(const WseParams& params, const LayerPlan& plan) {
  if (!plan.kernel) return {params.wafer.columns, params.wafer.rows};
  const wse::TaskProgram& program = plan.stages[0].parts[0];
  return {program.columns, program.rows};
}

/// The cores of the result.
std::uint64_t units_of(const WseParams& params, const LayerPlan& plan) {
  const auto [columns, rows] = extent_of(params, plan);
  return (plan.kernel ? plan.kernel->copies : 1) * columns * rows;
}

/// A row as programs of tasks: simulated, counted, compared and recorded.
class TaskRun {
 public:
  TaskRun(const WaferRequest& request, LayerPlan plan)
      : params_(request.params),
        plan_(std::move(plan)),
        execution_(request.execution),
        units_(units_of(params_, plan_)),
        into_(params_, execution_, units_) {}

  OpResult run() {
    const bool folds = plan_.kernel || (execution_.fold && !execution_.event_log &&
                                        !execution_.values && execution_.jitter == 0);
    if (!folds && units_ > kMostCoresUnfolded) {
      throw UnsupportedError(fmt::format(
          "{} cores are too many to simulate one by one (at most {}); set wafer.columns and "
          "wafer.rows lower, or leave out --fold off, --values and --event-log",
          units_, kMostCoresUnfolded));
    }
    for (LayerStage& planned : plan_.stages) {
      used_ = std::max(used_, cores_of(planned));
      LayerStage whole;
      if (!folds) whole = as_one(planned);
      LayerStage& stage = folds ? planned : whole;
      const Cycle cycles = run(stage);
      if (execution_.interval != 0) look_into(stage, cycles);
      taken_.push_back(cycles);
      add_phase(stage.name, cycles * stage.times);
      cycles_ += cycles * stage.times;
      stages_ +=
          fmt::format("{}{} {}", stages_.empty() ? "" : ", ", stage.name, cycles * stage.times);
    }
    return finish(folds);
  }

 private:
  wse::TaskParams hardware() const { return params_.task_hardware(); }
  wse::RunOptions options() const { return run_options(params_, execution_); }

  std::vector<std::uint64_t> counts_of(const LayerStage& stage) const;
  std::uint64_t cores_of(const LayerStage& stage) const;
  LayerStage as_one(const LayerStage& stage) const;
  Cycle run(LayerStage& stage);
  void keep_kernel(const TaskOutcome& outcome);
  void observe_slowest(const LayerStage& stage, const std::vector<TaskOutcome>& outcomes);
  using Looks = std::map<Cycle, CountsSoFar>;
  void look_into(const LayerStage& stage, Cycle cycles);
  void look_at(const wse::TaskProgram& program, const std::vector<Cycle>& phases,
               std::uint64_t times, Looks& into) const;
  void add_phase(const std::string& name, Cycle cycles);
  void add_units(OpResult& result);
  OpResult finish(bool folded);
  void fill_work();
  std::string fold_text(bool folded) const;

  const WseParams& params_;
  LayerPlan plan_;
  const Execution& execution_;
  const std::uint64_t units_;
  WaferResult into_;
  wse::TaskStats stats_;
  Cycle cycles_ = 0;
  std::vector<Cycle> taken_;  // by an execution of each stage
  std::string stages_;
  std::vector<PhaseTraffic> phases_;
  PhaseTraffic so_far_;          // of the phases before
  std::uint64_t simulated_ = 0;  // cores
  std::uint64_t used_ = 0;
  CountsSoFar before_;              // what the stages before have counted
  std::vector<WseTaskStage> seen_;  // for --explain
  std::string strategy_;            // of the stage before, likewise
  KernelStats spans_;               // of a kernel
};

/// How often each part of a stage is there.
std::vector<std::uint64_t> TaskRun::counts_of(const LayerStage& stage) const {
  std::vector<std::uint64_t> count(stage.parts.size(), 0);
  for (const wse::LayerPlacement& place : stage.places) {
    count[place.part] += plan_.kernel ? plan_.kernel->copies : 1;
  }
  return count;
}

/// Those that parts of a stage lie on.
std::uint64_t TaskRun::cores_of(const LayerStage& stage) const {
  const std::vector<std::uint64_t> count = counts_of(stage);
  std::uint64_t cores = 0;
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    cores += count[i] * stage.parts[i].rows * stage.parts[i].columns;
  }
  return cores;
}

/// All parts where they lie, as one.
LayerStage TaskRun::as_one(const LayerStage& stage) const {
  return {stage.name, {whole_program(stage, params_.wafer)}, {{0, 0, 0}}, stage.times, stage.moves};
}

/// Simulates each distinct part once. Parts share no links, so nothing one does can be seen by
/// another, and equal programs on equal hardware do the same.
Cycle TaskRun::run(LayerStage& stage) {
  const bool carries = execution_.values && !stage.moves;
  if (carries && !plan_.kernel) stage.parts[0].memory = std::move(plan_.memory);
  const std::vector<std::uint64_t> count = counts_of(stage);
  std::vector<TaskOutcome> outcomes;
  Cycle cycles = 0;
  std::uint64_t simulated = 0;
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    outcomes.push_back(simulate(hardware(), stage.parts[i], options()));
    const TaskOutcome& outcome = outcomes.back();
    cycles = std::max(cycles, outcome.cycles);
    simulated += outcome.stepped();
    if (plan_.kernel) keep_kernel(outcome);
    for (std::uint64_t time = 0; time < stage.times && execution_.event_log; ++time) {
      into_.events(outcome.events, cycles_ + time * outcome.cycles);
    }
  }
  observe_slowest(stage, outcomes);
  std::vector<const TaskOutcome*> placed;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    stats_.add(outcomes[i], count[i] * stage.times, cycles);
    if (count[i] != 0) placed.push_back(&outcomes[i]);
  }
  stats_.add_limits(placed, stage.times);
  stats_.add_idle((units_ - cores_of(stage)) * stage.times, cycles);
  simulated_ = std::max(simulated_, simulated);
  if (carries) plan_.memory = std::move(outcomes[0].memory);
  return cycles;
}

void TaskRun::keep_kernel(const TaskOutcome& outcome) {
  spans_.add(outcome);
  const std::uint64_t repeats = plan_.kernel->repeats;
  spans_.each += (outcome.cycles + repeats / 2) / repeats;
  spans_.mac_zero += plan_.kernel->zeros;
}

/// Of the parts of a stage the slowest is explained, where it first lies.
void TaskRun::observe_slowest(const LayerStage& stage, const std::vector<TaskOutcome>& outcomes) {
  if (!execution_.explain || outcomes.empty()) return;
  const auto slowest = std::max_element(
      outcomes.begin(), outcomes.end(),
      [](const TaskOutcome& a, const TaskOutcome& b) { return a.cycles < b.cycles; });
  if (strategy_ != slowest->strategy) into_.note("simulated", strategy_ = slowest->strategy);
  const auto part = static_cast<std::uint32_t>(slowest - outcomes.begin());
  const auto* const place =
      find_where(stage.places, [&](const wse::LayerPlacement& at) { return at.part == part; });
  if (place == nullptr) return;
  seen_.push_back(observe_stage(stage.name, stage.parts[part], *slowest, stage.times, place->row,
                                place->column));
}

/// What `times` runs of `program` have done at each of `phases`, which ascend.
void TaskRun::look_at(const wse::TaskProgram& program, const std::vector<Cycle>& phases,
                      std::uint64_t times, Looks& into) const {
  std::map<Cycle, CountsSoFar> seen;
  const auto look = [&](Cycle at, const TaskOutcome& so_far) {
    wse::TaskStats stats;
    stats.add(so_far, times, at);
    seen[at] = task_counts(stats);
  };
  const TaskOutcome whole = looked_at(hardware(), program, options(), phases, look);
  for (const Cycle phase : phases) {
    wse::TaskStats stats;
    if (phase >= whole.cycles) stats.add(whole, times, phase);
    const bool between = phase != 0 && phase < whole.cycles;
    add(into[phase], between ? seen.at(phase) : task_counts(stats), 1);
  }
}

/// Simulates a stage, which is known to take `cycles`, once more and looks at it where borders of
/// intervals fall, in whichever of its executions.
void TaskRun::look_into(const LayerStage& stage, Cycle cycles) {
  if (cycles == 0) return;
  const Cycle end = cycles_ + cycles * stage.times;
  const Cycle first = (cycles_ / execution_.interval + 1) * execution_.interval;
  std::set<Cycle> wanted{cycles};
  for (Cycle at = first; at < end; at += execution_.interval)
    wanted.insert((at - cycles_) % cycles);
  const std::vector<Cycle> phases(wanted.begin(), wanted.end());
  Looks looks;
  const std::vector<std::uint64_t> count = counts_of(stage);
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    look_at(stage.parts[i], phases, count[i], looks);
  }
  for (const Cycle phase : phases) {
    wse::TaskStats idle;
    idle.add_idle(units_ - cores_of(stage), phase);
    add(looks[phase], task_counts(idle), 1);
  }
  for (Cycle at = first; at < end; at += execution_.interval) {
    CountsSoFar counts = before_;
    add(counts, looks.at(cycles), (at - cycles_) / cycles);
    add(counts, looks.at((at - cycles_) % cycles), 1);
    into_.border(at, std::move(counts));
  }
  add(before_, looks.at(cycles), stage.times);
}

/// A stage has been counted: it moved what the stages before had not.
void TaskRun::add_phase(const std::string& name, Cycle cycles) {
  const std::uint64_t sram = stats_.sram_read_bytes + stats_.sram_write_bytes;
  const std::uint64_t fabric = stats_.router.hops.value() * 4;
  PhaseTraffic& found = find_or_add(
      phases_, [&](const PhaseTraffic& phase) { return phase.name == name; }, PhaseTraffic{name});
  found.cycles += cycles;
  found.sram_bytes += sram - so_far_.sram_bytes;
  found.fabric_bytes += fabric - so_far_.fabric_bytes;
  so_far_.sram_bytes = sram;
  so_far_.fabric_bytes = fabric;
}

void TaskRun::fill_work() {
  const std::uint64_t formed =
      stats_.core.mac16.value() + stats_.core.mac16_32.value() + stats_.core.mac32.value();
  const std::uint64_t zeros = plan_.kernel ? plan_.kernel->zeros : 0;
  const std::uint64_t useful =
      plan_.kernel ? formed - plan_.kernel->edge - zeros : plan_.mac_useful;
  const bool counts = !plan_.kernel || plan_.mac_algorithmic != 0;
  const std::uint64_t all = counts ? plan_.mac_algorithmic : useful;
  into_.products(all, useful);
  stats_.core.mac_skipped += all - useful - zeros;
  stats_.core.mac_edge += formed - useful - zeros;
  stats_.add_mean(units_);
  into_.counted(stats_);
  if (plan_.kernel) into_.group(spans_);
  into_.group(stats_.limits);
  const bool wide = plan_.kernel && plan_.kernel->wide;
  Peaks& peaks = into_.result.peaks;
  peaks = core_peaks(params_, wide ? params_.simd.fma32 : params_.simd.fma16, units_);
  if (!plan_.kernel) peaks.io_bytes_per_cycle = params_.io.gbit / 8.0 / params_.clock;
}

std::string TaskRun::fold_text(bool folded) const {
  if (!folded) return "every core is simulated";
  return fmt::format(
      "{} of {} cores simulated: parts that exchange no words and do the same, once each, and of "
      "lines that exchange the same words, a few",
      simulated_, units_);
}

void TaskRun::add_units(OpResult& result) {
  const auto [columns, rows] = extent_of(params_, plan_);
  LayerUnits units(hardware(), options(), columns, rows, step_length(cycles_, execution_.view));
  for (std::size_t i = 0; i < taken_.size(); ++i) units.add(plan_.stages[i], taken_[i]);
  UnitSeries& series = *(result.units_in_time = std::make_shared<UnitSeries>(units.take()));
  if (execution_.path) {
    const PathWindow window = fitted(*execution_.path, columns, rows, cycles_);
    if (plan_.kernel) {
      series.path = path_of_tasks(params_, plan_.stages[0].parts[0], window, options());
    } else {
      LayerPath path(params_, options(), window);
      for (std::size_t i = 0; i < taken_.size(); ++i) path.add(plan_.stages[i], taken_[i]);
      series.path = path.take();
    }
  }
  if (!plan_.kernel) {
    series.loss += fmt::format(" Stages: {} cycles.", stages_);
  } else if (plan_.kernel->copies != 1) {
    series.loss += fmt::format(" Each core stands for {} that do the same.", plan_.kernel->copies);
  }
}

OpResult TaskRun::finish(bool folded) {
  OpResult& result = into_.result;
  result.cycles = cycles_;
  fill_work();
  into_.rectangle();
  for (const auto& [key, text] : plan_.notes) into_.note(key, text);
  into_.note("cores used", fmt::format("{}", used_));
  into_.memory(plan_.bytes, plan_.limit);
  into_.note("stages", fmt::format("{} cycles", stages_));
  result.phases = std::move(phases_);
  into_.note("fold", fold_text(folded));
  result.explanation = explain_tasks(seen_);
  if (execution_.event_log) {
    wse::sort_events(result.events);
    const auto [columns, rows] = extent_of(params_, plan_);
    into_.event_names(rows, columns, 0);
  }
  if (execution_.values) {
    const wse::LayerComparison compared = plan_.compare(plan_.memory);
    result.values = ValueCheck{compared.compared, compared.wrong, compared.largest_error};
  }
  if (execution_.view != 0) add_units(result);
  OpResult taken = into_.take();
  const bool once = !plan_.kernel || plan_.kernel->copies == 1;
  if (taken.units_in_time != nullptr && once) check_units(*taken.units_in_time, taken);
  return taken;
}

wse::LayerSetup layer_setup(const WseParams& params, bool estimates) {
  wse::LayerSetup setup{params.wafer, params.task_hardware(), params.costs(), params.llm};
  setup.keeps_zeros = !params.ws.zero_filter;
  setup.estimates = estimates;
  return setup;
}

/// A row as its planner takes it.
struct Planned {
  Planned(const WseParams& params, const LayerOp& op, const Mask* mask, std::uint64_t seed,
          bool values, bool estimates = false)
      : setup(layer_setup(params, estimates)),
        x_mask(x_mask_of(op, seed)),
        request{setup, op, mask, seed, values, x_mask ? &*x_mask : nullptr} {}

  const wse::LayerSetup setup;
  const std::optional<Mask> x_mask;
  const wse::LayerRequest request;
};

wse::StreamSettings stream_settings(const WseParams& params) {
  wse::StreamSettings stream{params.ws, params.io};
  for (const auto& maker : params.makers) {
    const wse::StreamingParams& ws = maker == nullptr ? params.ws : maker->ws;
    stream.makers.push_back(&ws);
  }
  return stream;
}

wse::LayerMoves moves_of(const wse::LayerRequest& request, const LayerPlan& plan,
                         const wse::StreamSettings& stream) {
  return plan.blocks ? wse::attention_moves(request, *plan.blocks, stream)
                     : wse::function_moves(request, stream);
}

void plan_moves(const wse::LayerRequest& request, wse::LayerMoves moves, LayerPlan& plan) {
  check_move_bytes(request, moves);
  if (moves.bytes != 0) {
    plan.notes.emplace_back("memory of moves",
                            fmt::format("{} bytes of the fullest core", moves.bytes));
  }
  std::vector<LayerStage> all = std::move(moves.before);
  for (auto* stages : {&plan.stages, &moves.after}) {
    for (LayerStage& stage : *stages) all.push_back(std::move(stage));
  }
  plan.stages = std::move(all);
}

}  // namespace

OpResult run_task_plan(const WaferRequest& request, LayerPlan plan) {
  return TaskRun(request, std::move(plan)).run();
}

OpResult run_layer_operation(const WaferRequest& request) {
  const auto& [machine, params, op, mask, seed, execution] = request;
  const Planned row(params, op, mask, seed, execution.values);
  // The plan refers to the request.
  LayerPlan plan = wse::plan_layer(row.request);
  plan_moves(row.request, moves_of(row.request, plan, stream_settings(params)), plan);
  OpResult result = run_task_plan(request, std::move(plan));
  if (row.x_mask) result.x_density = row.x_mask->density();
  return result;
}

namespace {

wse::LayerMoves moves_of(const WseParams& params, const wse::LayerRequest& request, bool resident,
                         MoveSide side) {
  const wse::StreamSettings stream = stream_settings(params);
  const LayerOp& op = request.op;
  if (side == MoveSide::after) return wse::resident_result_moves(request, stream);
  if (is_whole_gradient(params, op)) {
    return wse::dense_gradient_moves(request, stream, op.x_pattern != "dense");
  }
  if (is_sampled_gradient(op)) {
    return wse::gradient_moves(
        request, stream,
        wse::gradient_layouts(gradient_job(op, request.mask), streaming_setup(params)));
  }
  return resident ? wse::resident_operand_moves(request, stream)
                  : wse::product_moves(request, stream);
}

}  // namespace

OpResult run_moves(const WaferRequest& request, bool resident, MoveSide side) {
  const auto& [machine, params, op, mask, seed, execution] = request;
  if (op.sources.empty() && side == MoveSide::before) return {};
  const Planned row(params, op, mask, seed, false);
  LayerPlan plan;
  plan_moves(row.request, moves_of(params, row.request, resident, side), plan);
  Execution without = execution;
  without.values = false;  // they carry no numbers
  without.view = 0;        // what the row itself does is shown
  return run_task_plan(request.with(op, without), std::move(plan));
}

void add_moves(const WaferRequest& request, bool resident, OpResult& result, MoveSide side) {
  OpResult moved = run_moves(request, resident, side);
  if (moved.cycles == 0) return;
  if (side == MoveSide::before) {
    put_before(std::move(moved), result);
  } else {
    put_after(std::move(moved), result);
  }
}

namespace {

/// Of each stage the estimate, or what its fullest part takes.
double estimated_cycles(const std::vector<LayerStage>& stages, const wse::TaskParams& hardware) {
  Cycle all = 0;
  for (const LayerStage& stage : stages) {
    Cycle most = stage.estimate;
    for (const wse::TaskProgram& part : stage.parts) {
      most = std::max(most, wse::simulate(hardware, part, {}).cycles);
    }
    all += most * stage.times;
  }
  return static_cast<double>(all);
}

}  // namespace

RoughCost estimated_beside(const WseParams& params, const LayerOp& op, const Mask* mask,
                           bool resident) {
  const Planned row(params, op, mask, 0, false, true);
  RoughCost found;
  try {
    LayerPlan plan;
    wse::LayerMoves moves;
    if (!has_weights(op) && !is_gradient(op)) {
      plan = wse::plan_layer(row.request);
      found.bytes = plan.bytes;
      moves = moves_of(row.request, plan, stream_settings(params));
    } else if (!op.sources.empty()) {
      moves = moves_of(params, row.request, resident, MoveSide::before);
    }
    if (resident && op.share.result_taken) {
      plan.stages = moves_of(params, row.request, true, MoveSide::after).after;
    }
    plan_moves(row.request, std::move(moves), plan);
    found.cycles = estimated_cycles(plan.stages, row.setup.hardware);
  } catch (const SimulationError&) {
    found.cycles = std::numeric_limits<double>::infinity();
  }
  return found;
}

}  // namespace lacuna

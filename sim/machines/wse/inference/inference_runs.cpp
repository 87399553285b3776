// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/inference/inference_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "models/wse/simulate.hpp"
#include "models/wse/task_stats.hpp"
#include "sim/machines/result_sequence.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/view/critical_path.hpp"
#include "sim/machines/wse/view/layer_series.hpp"
#include "sim/report/result.hpp"

namespace lacuna {

namespace {

RunTotals totals_of(const wse::TaskOutcome& run) {
  RunTotals totals;
  totals.cycles = run.cycles;
  totals.cores = run.cores.size();
  if (!run.stamps.empty()) totals.stamps = run.stamps[0];
  wse::TaskStats stats;
  stats.add(run, 1, run.cycles);
  stats.core.add_to(totals.statistics);
  stats.router.add_to(totals.statistics);
  stats.core.add_to(totals.stack);
  check_stack("the wafer", totals.stack, totals.cores, totals.cycles);
  totals.sram_read_bytes = stats.sram_read_bytes;
  totals.sram_write_bytes = stats.sram_write_bytes;
  totals.fabric_bytes = task_counts(stats).fabric_bytes;
  stats.add_limits({&run}, 1);
  totals.busiest = stats.limits.busiest.value();
  totals.multiplies = stats.limits.multiplies.value();
  return totals;
}

// Names, units and actions of statistics have no blanks; what they are is said elsewhere.
std::string text_of(const RunTotals& totals) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {}\n{}", totals.cycles, totals.cores, totals.sram_read_bytes,
                  totals.sram_write_bytes, totals.fabric_bytes, totals.busiest, totals.multiplies,
                  totals.stamps.size());
  for (const Cycle stamp : totals.stamps) text += fmt::format(" {}", stamp);
  text += fmt::format("\n{}\n", totals.statistics.size());
  for (const StatEntry& each : totals.statistics) {
    text += fmt::format("{} {} {} {} {}\n", each.path, each.name, each.unit,
                        each.action.empty() ? "-" : each.action, each.value);
  }
  text += fmt::format("{}\n", totals.stack.size());
  for (const StackPart& each : totals.stack) {
    text += fmt::format("{} {} {}\n", static_cast<int>(each.layer), each.kind, each.cycles);
  }
  return text;
}

std::optional<RunTotals> totals_from(const std::string& text) {
  std::istringstream in(text);
  RunTotals totals;
  std::size_t count = 0;
  in >> totals.cycles >> totals.cores >> totals.sram_read_bytes >> totals.sram_write_bytes >>
      totals.fabric_bytes >> totals.busiest >> totals.multiplies >> count;
  for (Cycle stamp = 0; count > 0 && in >> stamp; --count) totals.stamps.push_back(stamp);
  in >> count;
  for (StatEntry each; count > 0; --count) {
    if (!(in >> each.path >> each.name >> each.unit >> each.action >> each.value)) break;
    if (each.action == "-") each.action.clear();
    totals.statistics.push_back(each);
  }
  in >> count;
  int layer = 0;
  for (StackPart each; count > 0; --count) {
    if (!(in >> layer >> each.kind >> each.cycles)) break;
    each.layer = static_cast<Layer>(layer);
    totals.stack.push_back(each);
  }
  if (!in || count != 0) return std::nullopt;
  return totals;
}

/// The phase of the first core in the middle of each step.
std::vector<std::string> phase_of_steps(const std::vector<Cycle>& ends,
                                        const std::vector<Cycle>& stamps,
                                        const std::vector<std::string>& phases) {
  std::vector<std::string> names;
  Cycle begin = 0;
  for (const Cycle end : ends) {
    const Cycle middle = begin + (end - begin) / 2;
    const auto after = std::upper_bound(stamps.begin(), stamps.end(), middle);
    const auto phase = static_cast<std::size_t>(after - stamps.begin());
    const bool is_in = phase != 0 && phase <= phases.size() && after != stamps.end();
    names.push_back(is_in ? fmt::format("first core in {}", phases[phase - 1])
                          : std::string(phase == 0 ? "before the first phase" : "all phases done"));
    begin = end;
  }
  return names;
}

}  // namespace

void PassTotals::add(const RunTotals& run, double times) { add(run.statistics, run.stack, times); }

void PassTotals::add(const PassTotals& totals, double times) {
  add(totals.statistics, totals.stack, times);
}

void PassTotals::add(const std::vector<StatEntry>& more, const std::vector<StackPart>& parts,
                     double times) {
  const auto scaled = [times](std::uint64_t value) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(value) * times));
  };
  for (StatEntry entry : more) {
    entry.value = scaled(entry.value);
    merge(statistics, entry);
  }
  for (const StackPart& part : parts) merge(stack, {part.layer, part.kind, scaled(part.cycles)});
}

namespace {

wse::RunOptions of_engine(Engine engine) {
  wse::RunOptions options;
  options.engine = engine;
  return options;
}

}  // namespace

InferenceRuns::InferenceRuns(const WseParams& params, Engine engine, PartCache* cache)
    : InferenceRuns(params, of_engine(engine), std::make_shared<KnownRuns>()) {
  cache_ = cache;
}

InferenceRuns::InferenceRuns(const WseParams& params, const wse::RunOptions& options,
                             std::shared_ptr<KnownRuns> known)
    : params_(params), options_(options), known_(std::move(known)) {
  params.for_each([&](const std::string& path, const ParamBase& each) {
    parameters_ += path + '=' + each.value_text() + '\n';
  });
  parameters_ +=
      fmt::format("{} {} {} {} {}\n", options.engine == Engine::clocked ? "clocked" : "event",
                  options.shuffle, options.jitter, options.jitter_seed, options.fold);
}

void InferenceRuns::watch(const TaskView& view, ShowProgram show) {
  view_ = view;
  show_ = std::move(show);
}

const RunTotals& InferenceRuns::of(const std::string& name,
                                   const std::function<wse::TaskProgram()>& make,
                                   const ProgramTitle& title) {
  const RunTotals& totals = found(name, make);
  if (view_.steps != 0 && !title.text.empty() && shown_.insert(name).second) {
    show(make(), totals, title);
  }
  return totals;
}

void InferenceRuns::show(wse::TaskProgram made, const RunTotals& totals,
                         const ProgramTitle& title) {
  const wse::LayerStage stage{{}, {std::move(made)}, {{0, 0, 0}}};
  const wse::TaskProgram& program = stage.parts[0];
  LayerUnits units(params_.task_hardware(), options_, program.columns, program.rows,
                   step_length(totals.cycles, view_.steps));
  units.add(stage, totals.cycles);
  UnitSeries series = units.take();
  OpResult result;
  result.units = totals.cores;
  result.cycles = totals.cycles;
  result.stack = totals.stack;
  check_units(series, result);
  if (!title.phases.empty()) {
    series.step_names = phase_of_steps(series.ends, totals.stamps, title.phases);
  }
  const std::optional<PathWindow>& path = view_.path;
  if (path && path->from < totals.cycles && path->column < program.columns &&
      path->row < program.rows) {
    const PathWindow window = fitted(*path, program.columns, program.rows, totals.cycles);
    series.path = path_of_tasks(params_, program, window, options_);
  }
  show_(title.text, totals, std::move(series));
}

const RunTotals& InferenceRuns::found(const std::string& name,
                                      const std::function<wse::TaskProgram()>& make) {
  constexpr const char* kKind = "program of inference";
  const std::string key = parameters_ + name;
  const auto known = known_->find(key);
  if (known != known_->end()) return known->second;
  if (cache_ != nullptr) {
    if (const auto text = cache_->find(kKind, key)) {
      if (const auto kept = totals_from(*text)) return known_->emplace(key, *kept).first->second;
    }
  }
  const RunTotals totals = totals_of(wse::simulate(params_.task_hardware(), make(), options_));
  if (cache_ != nullptr) cache_->keep(kKind, key, text_of(totals));
  return known_->emplace(key, totals).first->second;
}

}  // namespace lacuna

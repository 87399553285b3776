// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/view/layer_path.hpp"

#include <algorithm>
#include <tuple>

#include "models/wse/fabric/queue.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/view/critical_path.hpp"

namespace lacuna {

CriticalPath path_of_tasks(const WseParams& params, const wse::TaskProgram& program,
                           const PathWindow& window, const wse::RunOptions& options) {
  wse::TaskOutcome recorded =
      wse::simulate(params.task_hardware(), program,
                    with_records(options, window, program.columns, program.rows));
  require_records(recorded.events_left_out);
  const wse::QueueShapes shapes(params.router);
  constexpr std::int64_t kNothingEnters = -1;
  return critical_path(window, {std::move(recorded.events), program.columns, program.rows,
                                shapes.link().latency, shapes.ramp_up().latency, kNothingEnters});
}

LayerPath::LayerPath(const WseParams& params, wse::RunOptions options, const PathWindow& window)
    : params_(params), options_(std::move(options)) {
  options_.event_log = false;
  path_.window = window;
}

/// The chosen cores that a part has where it lies, by its own rows and columns; of none no columns.
PathWindow LayerPath::inside(const wse::LayerStage& stage, const wse::LayerPlacement& place) const {
  const wse::TaskProgram& part = stage.parts[place.part];
  const PathWindow& all = path_.window;
  const auto cut = [](std::uint32_t first, std::uint32_t count, std::uint32_t begin,
                      std::uint32_t size) {
    const std::uint32_t from = std::max(first, begin);
    const std::uint32_t to = std::min(first + count, begin + size);
    return std::pair(from - begin, to > from ? to - from : 0);
  };
  PathWindow window;
  std::tie(window.column, window.columns) =
      cut(all.column, all.columns, place.column, part.columns);
  std::tie(window.row, window.rows) = cut(all.row, all.rows, place.row, part.rows);
  if (window.rows == 0) window.columns = 0;
  return window;
}

std::optional<LayerPath::Chosen> LayerPath::slowest(const wse::LayerStage& stage) const {
  std::optional<Chosen> best;
  std::vector<bool> seen(stage.parts.size(), false);
  for (const wse::LayerPlacement& place : stage.places) {
    if (seen[place.part] || inside(stage, place).columns == 0) continue;
    seen[place.part] = true;
    const Cycle cycles =
        wse::simulate(params_.task_hardware(), stage.parts[place.part], options_).cycles;
    if (!best || cycles > best->cycles) best = Chosen{place, cycles};
  }
  return best;
}

CriticalPath LayerPath::of_part(const wse::LayerStage& stage, const Chosen& chosen, Cycle from,
                                Cycle to) const {
  PathWindow window = inside(stage, chosen.place);
  window.from = from;
  window.to = to;
  return path_of_tasks(params_, stage.parts[chosen.place.part], window, options_);
}

std::uint32_t LayerPath::number_of(const std::string& what) {
  return static_cast<std::uint32_t>(place_or_add(path_.whats, what));
}

void LayerPath::append(const CriticalPath& more, const wse::LayerPlacement& place, Cycle behind) {
  for (PathStep step : more.steps) {
    step.what = number_of(more.whats[step.what]);
    step.row += place.row;
    step.column += place.column;
    step.from += behind;
    step.to += behind;
    path_.steps.push_back(step);
  }
}

void LayerPath::append_outside(const char* what, Cycle from, Cycle to) {
  if (from >= to) return;
  path_.steps.push_back(
      {PathStep::Place::outside, path_.window.row, path_.window.column, number_of(what), from, to});
}

void LayerPath::add(const wse::LayerStage& stage, Cycle cycles) {
  const Cycle begin = before_;
  before_ += cycles * stage.times;
  const PathWindow& window = path_.window;
  if (cycles == 0 || before_ <= window.from || begin >= window.to) return;
  const std::optional<Chosen> chosen = slowest(stage);
  std::map<std::pair<Cycle, Cycle>, CriticalPath> known;  // executions are alike
  for (std::uint64_t i = 0; i < stage.times; ++i) {
    const Cycle behind = begin + i * cycles;
    if (behind + cycles <= window.from || behind >= window.to) continue;
    const Cycle from = std::max(window.from, behind) - behind;
    const Cycle to = std::min(window.to - behind, cycles);
    const Cycle own = chosen ? std::min(to, chosen->cycles) : 0;
    if (own > from) {
      auto path = known.find({from, own});
      if (path == known.end()) {
        path = known.emplace(std::pair(from, own), of_part(stage, *chosen, from, own)).first;
      }
      append(path->second, chosen->place, behind);
    }
    append_outside(
        chosen ? "another part of the stage takes longer" : "the chosen cores have nothing to do",
        behind + std::max(from, own), behind + to);
  }
}

}  // namespace lacuna

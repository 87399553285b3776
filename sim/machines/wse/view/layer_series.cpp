// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/view/layer_series.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "models/wse/row_marks.hpp"
#include "models/wse/simulate.hpp"
#include "models/wse/task_stats.hpp"

namespace lacuna {

wse::TaskOutcome looked_at(const wse::TaskParams& hardware, const wse::TaskProgram& part,
                           wse::RunOptions options, const std::vector<Cycle>& cycles,
                           const std::function<void(Cycle, const wse::TaskOutcome&)>& look) {
  auto next = std::upper_bound(cycles.begin(), cycles.end(), Cycle{0});
  const auto at_next = [&] { return next == cycles.end() ? kNever : *next; };
  options.event_log = false;
  options.first_look = at_next();
  options.look_at_tasks = [&](Cycle at, const wse::TaskOutcome& so_far) {
    look(at, so_far);
    ++next;
    return at_next();
  };
  return wse::simulate(hardware, part, options);
}

LayerUnits::LayerUnits(wse::TaskParams hardware, wse::RunOptions options, std::uint32_t columns,
                       std::uint32_t rows, Cycle length)
    : hardware_(std::move(hardware)),
      options_(std::move(options)),
      columns_(columns),
      length_(length),
      routers_(std::size_t{columns} * rows) {
  done_.cores.resize(routers_.size());
  priced_.columns = columns;
  priced_.stored_rows = rows;
}

/// Calls `visit(core of the part, core of the wafer)` for all that run a part of a stage.
template <class Visit>
void LayerUnits::for_each_core(const wse::LayerStage& stage, std::size_t part,
                               const Visit& visit) const {
  const wse::TaskProgram& program = stage.parts[part];
  for (const wse::LayerPlacement& place : stage.places) {
    if (place.part != part) continue;
    for (std::size_t i = 0; i < std::size_t{program.rows} * program.columns; ++i) {
      visit(i, (place.row + i / program.columns) * columns_ + place.column + i % program.columns);
    }
  }
}

LayerUnits::Seen LayerUnits::look_at(const wse::TaskProgram& part, const std::vector<Cycle>& phases,
                                     wse::TaskOutcome& whole) const {
  Seen seen;
  whole = looked_at(
      hardware_, part, options_, phases,
      [&](Cycle at, const wse::TaskOutcome& so_far) { seen.at[at] = task_mark(at, so_far); });
  seen.end = task_mark(whole.cycles, whole);
  return seen;
}

void LayerUnits::add_priced_of(const wse::LayerStage& stage, std::size_t part,
                               const wse::TaskOutcome& whole, Cycle cycles) {
  std::vector<std::unique_ptr<wse::TaskStats>> stats;
  for (std::size_t i = 0; i < whole.cores.size(); ++i) {
    wse::TaskOutcome one;
    one.cycles = whole.cycles;
    one.cores.push_back(whole.cores[i]);
    one.routers.push_back(whole.routers[i]);
    stats.push_back(std::make_unique<wse::TaskStats>());
    stats.back()->add(one, stage.times, cycles);
  }
  for_each_core(stage, part, [&](std::size_t of_part, std::size_t core) {
    routers_[core].add(whole.routers[of_part], stage.times);
    add_priced(priced_, stats[of_part]->core, core);
    add_priced(priced_, stats[of_part]->router, core);
  });
}

void LayerUnits::add(const wse::LayerStage& stage, Cycle cycles) {
  if (cycles == 0) return;
  const Cycle end = before_ + cycles * stage.times;
  std::vector<Cycle> borders;
  std::set<Cycle> wanted;
  for (Cycle at = (before_ / length_ + 1) * length_; at <= end; at += length_) {
    borders.push_back(at);
    if ((at - before_) % cycles != 0) wanted.insert((at - before_) % cycles);
  }
  wse::require_marks((marks_.size() + borders.size()) * routers_.size());
  const std::vector<Cycle> phases(wanted.begin(), wanted.end());
  const std::size_t first = marks_.size();
  for (const Cycle at : borders) marks_.push_back({at, done_.cores});
  const auto plus = [](Counts& sum, const Counts& more, std::uint64_t times) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum.at(k) += more.at(k) * times;
  };
  for (std::size_t part = 0; part < stage.parts.size(); ++part) {
    wse::TaskOutcome whole;
    const Seen seen = look_at(stage.parts[part], phases, whole);
    for (std::size_t i = 0; i < borders.size(); ++i) {
      const Cycle into = borders[i] - before_;
      const auto now = seen.at.find(into % cycles);
      const bool between = into % cycles != 0 && into % cycles < whole.cycles;
      const TaskMark& partly = between && now != seen.at.end() ? now->second : seen.end;
      for_each_core(stage, part, [&](std::size_t of_part, std::size_t core) {
        Counts& sum = marks_[first + i].cores[core];
        plus(sum, seen.end.cores[of_part], into / cycles);
        if (into % cycles != 0) plus(sum, partly.cores[of_part], 1);
      });
    }
    for_each_core(stage, part, [&](std::size_t of_part, std::size_t core) {
      plus(done_.cores[core], seen.end.cores[of_part], stage.times);
    });
    add_priced_of(stage, part, whole, cycles);
  }
  before_ = end;
}

UnitSeries LayerUnits::take() {
  done_.at = before_;
  if (marks_.empty() || marks_.back().at != before_) marks_.push_back(done_);
  UnitSeries series = series_of_marks(marks_, routers_, columns_);
  series.priced = std::move(priced_.priced);
  return series;
}

}  // namespace lacuna

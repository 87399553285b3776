// SPDX-License-Identifier: Apache-2.0
#include "models/wse/wafer_intervals.hpp"

#include <algorithm>
#include <set>

namespace lacuna::wse {

WaferIntervals::WaferIntervals(const Program& program, const FoldPlan& fold,
                               const HardwareParams& hardware, std::uint64_t rows_off, Cycle length)
    : program_(program),
      fold_(fold),
      hardware_(hardware),
      rows_off_(rows_off),
      length_(length),
      rows_of_(fold.kept.size()) {
  std::set<Cycle> phases{0};  // the edge is looked at when an interval ends
  for (std::uint32_t row = 0; row < program.rows; ++row) {
    rows_of_[fold.representative[row]].push_back(row);
    phases.insert((length - behind(row) % length) % length);
  }
  phases_.assign(phases.begin(), phases.end());
}

/// The next cycle in which some row is so many hops from a border as it is behind.
Cycle WaferIntervals::next_look(Cycle after) const {
  const Cycle begin = after / length_ * length_;
  const auto next = std::upper_bound(phases_.begin(), phases_.end(), after - begin);
  return next == phases_.end() ? begin + length_ + phases_.front() : begin + *next;
}

void WaferIntervals::watch(RunOptions& options) {
  options.first_look = next_look(0);
  options.look = [this](Cycle at, CountedWafer& wafer) { return look(at, wafer); };
}

WaferStats& WaferIntervals::border(std::size_t number) {
  while (borders_.size() <= number) borders_.push_back(std::make_unique<WaferStats>());
  return *borders_[number];
}

Cycle WaferIntervals::look(Cycle at, CountedWafer& wafer) {
  for (std::size_t kept = 0; kept < rows_of_.size(); ++kept) {
    RowCounts counts;
    bool counted = false;
    for (const std::uint32_t row : rows_of_[kept]) {
      const Cycle then = at + behind(row);
      if (then % length_ != 0) continue;
      if (!counted) counts = wafer.count_row(kept, program_.kernel.steps, at);
      counted = true;
      border(then / length_ - 1).add_row(counts, fold_, program_, hardware_, row, then);
    }
  }
  if (at % length_ == 0) {
    border(at / length_ - 1).add_edge(wafer.injectors().counters(at), program_, at, at);
  }
  return next_look(at);
}

void WaferIntervals::for_each_border(
    const WaferOutcome& run, const std::function<void(Cycle at, const WaferStats&)>& visit) {
  const Cycle end = full_cycles(run, fold_, program_, hardware_.router);
  RowCounts nothing;
  nothing.ends.assign(program_.columns, kNever);
  std::vector<RowCounts> all;
  for (std::size_t kept = 0; kept < rows_of_.size(); ++kept) {
    all.push_back(count_row(run, kept, program_.columns));
  }
  for (std::size_t number = 0; (number + 1) * length_ < end; ++number) {
    const Cycle at = (number + 1) * length_;
    WaferStats& stats = border(number);
    for (std::uint32_t row = 0; row < program_.rows; ++row) {
      // rows that had not begun, and those whose representative had ended with its run
      if (at <= behind(row)) stats.add_row(nothing, fold_, program_, hardware_, row, at);
      if (at >= run.cycles + behind(row)) {
        stats.add_row(all[fold_.representative[row]], fold_, program_, hardware_, row, at);
      }
    }
    if (at >= run.cycles) stats.add_edge(run.injectors, program_, run.cycles, at);
    stats.core.unused += rows_off_ * program_.columns * at;
    visit(at, stats);
  }
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/wse/edge/injectors.hpp"
#include "models/wse/engine/copy_row.hpp"
#include "models/wse/engine/row_groups.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// A wafer of streams as one row of lanes for each group of rows that do the same. At first these
/// are the rows whose tokens take equal times: they repeat the first, a hop later each, while no
/// copy onward meets a closed link. When one does, the row that sends it leaves its group and is
/// simulated by itself; doc/model/wafer_folding.md has the proof. A Row has
///   Row(params, program, shared, row)   step(now, next)   words()   moved()   finished()
template <class Row>
class RowsInLanes {
 public:
  using Number = typename Row::Number;
  using Group = RowGroup<Row>;
  using Groups = RowGroups<Row>;

  /// Rows have groups of their own if not to be folded.
  RowsInLanes(const HardwareParams& params, const Program& program, bool fold);

  /// Performs cycles. `begins(now)` is told of each. `ends(now, left, moved)` is asked when rows
  /// have been stepped, of which so many have not finished, and before words enter; it says in
  /// `moved` if something has moved at the edge. Throws DeadlockError.
  template <class Begins, class Ends>
  void run(const Begins& begins, const Ends& ends);

  /// From where words enter to the south, and from the row above it to the north.
  std::array<Groups, 2>& ways() { return ways_; }
  template <class Visit>
  void for_each_group(const Visit& visit) {
    for (Groups& way : ways_) {
      for (Group& group : way) visit(group);
    }
  }
  std::uint32_t groups() const {
    return static_cast<std::uint32_t>(ways_[0].size() + ways_[1].size());
  }
  /// The group of each row, those to the north behind those to the south.
  std::vector<std::size_t> group_of_row() const;
  Row& top() { return *ways_[0].front().row; }
  Injectors<Number>& injectors() { return injectors_; }
  /// The row before the first with tokens, if it is there.
  std::optional<CopyRow<Number>>& copies() { return copies_; }

 private:
  void add_way(bool north, std::uint32_t first, std::uint32_t count, bool fold);
  std::unique_ptr<Row> make_row(std::uint32_t row) const {
    return std::make_unique<Row>(params_, program_, shared_, row);
  }
  void step_rows(Cycle now);
  void step_way(Groups& way, std::size_t first, Cycle now);
  void enter(Cycle now);
  bool rows_moved() const;
  std::size_t rows_left() const;

  const HardwareParams params_;
  const Program& program_;
  const SumStreams shared_;
  std::array<Groups, 2> ways_;
  std::optional<CopyRow<Number>> copies_;
  Injectors<Number> injectors_;
  const bool metered_;  // links are shut after so many words
  const std::vector<Number> all_open_;
};

template <class Row>
RowsInLanes<Row>::RowsInLanes(const HardwareParams& params, const Program& program, bool fold)
    : params_(params),
      program_(program),
      shared_(program),
      injectors_(params.router, program),
      metered_(LinkRule(params.router).on_links()),
      all_open_(whole_blocks<Number>(program.columns), -1) {
  const std::uint32_t entry = program.entry;
  const bool alike =
      classes_of(program.kernel, rows_from(0, program.rows, false), fold).size() == 1;
  if (!program.both_ways() || (alike && !metered_)) {
    // Rows that are alike never hold each other up, so the way to the north does what the way
    // to the south does.
    add_way(false, entry, program.rows - entry, fold);
  } else {
    ways_[0].push_back({{entry, entry}, make_row(entry)});
    add_way(false, entry + 1, program.rows - entry - 1, fold);
    add_way(true, entry - 1, entry, fold);
  }
  if (program.distribution_rows != 0) copies_.emplace(params.router, program);
}

template <class Row>
void RowsInLanes<Row>::add_way(bool north, std::uint32_t first, std::uint32_t count, bool fold) {
  Groups& way = ways_[north ? 1 : 0];
  for (const RowClass& rows : classes_of(program_.kernel, rows_from(first, count, north), fold)) {
    way.push_back({rows, make_row(rows.first)});
  }
  // With meters the last row, which sends no copy on, does other things than the others.
  if (!metered_ || count == 0 || way.back().rows.first == way.back().rows.last) return;
  RowClass& rows = way.back().rows;
  const RowClass end{rows.last, rows.last};
  rows.last = north ? rows.last + 1 : rows.last - 1;
  way.push_back({end, make_row(end.first)});
}

template <class Row>
template <class Begins, class Ends>
void RowsInLanes<Row>::run(const Begins& begins, const Ends& ends) {
  Cycle last_move = 0;
  std::size_t left = rows_left();
  for (Cycle now = 0;; ++now) {
    begins(now);
    bool moved = injectors_.moved() || (copies_ && copies_->moved());
    if (left != 0) {
      step_rows(now);
      moved = moved || rows_moved();
      left = rows_left();
    }
    injectors_.tokens().fill();
    if (ends(now, left, moved)) return;
    enter(now);
    if (moved) last_move = now;
    if (now - last_move > ClockDomain::kWatchdog) {
      throw DeadlockError(injectors_.deadlock(last_move, left, program_.rows));
    }
  }
}

template <class Row>
void RowsInLanes<Row>::enter(Cycle now) {
  if (copies_) {
    copies_->arrive(injectors_.send_words(now, copies_->open()));
  } else {
    top().words().arrive(injectors_.send_words(now, top().words().open()));
  }
}

template <class Row>
bool RowsInLanes<Row>::rows_moved() const {
  const auto moved = [](const Group& group) { return group.row->moved(); };
  return std::any_of(ways_[0].begin(), ways_[0].end(), moved) ||
         std::any_of(ways_[1].begin(), ways_[1].end(), moved);
}

/// That have not finished.
template <class Row>
std::size_t RowsInLanes<Row>::rows_left() const {
  std::size_t left = 0;
  for (const Groups& way : ways_) {
    for (const Group& group : way) left += group.row->finished() ? 0 : group.rows.count();
  }
  return left;
}

/// A cycle of all groups, from where words enter to the ends, each in its local time. What a row
/// learns of the next is a hop and a cycle old, so that row's previous cycle tells it.
template <class Row>
void RowsInLanes<Row>::step_rows(Cycle now) {
  if (copies_) {
    copies_->step(top().words().takes());
    top().words().arrive(copies_->copied());
  }
  if (groups() == 1 && !metered_ && !copies_) return top().step(now, {});
  if (ways_[1].empty()) return step_way(ways_[0], 0, now);
  const bool ends = ways_[0].size() == 1;
  Row& north = *ways_[1].front().row;
  top().step(now,
             {ends ? &all_open_ : &ways_[0][1].row->words().takes(), &north.words().takes(), ends});
  step_way(ways_[0], 1, now);
  north.words().arrive(top().words().copied_back());
  step_way(ways_[1], 0, now);
}

/// From group `first` on. Only the last row of a group has a neighbour that does other things than
/// itself; when that one does not take a copy at once, this row goes its own way from then on. A
/// shut link delays a copy for the others, not for the first row itself.
template <class Row>
void RowsInLanes<Row>::step_way(Groups& way, std::size_t first, Cycle now) {
  for (std::size_t i = first; i < way.size(); ++i) {
    if (i != 0) way[i].row->words().arrive(way[i - 1].row->words().copied());
    const bool alone = way[i].rows.first == way[i].rows.last;
    const bool behind = i + 1 < way.size();
    const std::vector<Number>* open = behind ? &way[i + 1].row->words().takes() : &all_open_;
    if (behind && !alone) {
      if (way[i].row->words().meets_shut()) {
        split(way, i, false);
        open = &way[i + 1].row->words().takes();
      } else {
        if (way[i].row->words().meets_closed(*open)) split(way, i, true);
        open = &all_open_;
      }
    }
    way[i].row->step(now, {open, nullptr, !behind});
  }
}

template <class Row>
std::vector<std::size_t> RowsInLanes<Row>::group_of_row() const {
  std::vector<std::size_t> group_of(program_.rows, 0);
  std::size_t group = 0;
  for (const Groups& way : ways_) {
    for (const Group& mine : way) {
      const auto [first, last] = std::minmax(mine.rows.first, mine.rows.last);
      for (std::uint32_t row = first; row <= last; ++row) group_of[row] = group;
      ++group;
    }
  }
  return group_of;
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/base/statistics.hpp"
#include "sim/report/critical_path.hpp"

namespace lacuna {

struct OpResult;

/// What every unit of a machine counted of one thing, in each step or over the whole run.
struct UnitChannel {
  enum class Group { stack, count, whole };

  std::string name;
  std::string unit;
  std::string doc;
  Group group = Group::count;
  Layer layer = Layer::idle;  // of the stack
  /// A step after the other, of each its rows, of each its columns; of `whole` no steps.
  std::vector<std::uint64_t> values;

  bool timed() const { return group != Group::whole; }
};

/// A counter that is priced, of each stored row and column over the whole run.
struct PricedUnits {
  StatEntry entry;  // its value is not used
  std::vector<std::uint64_t> values;
};

/// What each unit of a machine did in one execution of an operation, step by step and over all of
/// it, where it lies on the die. Rows of the die that did the same, each in its own time, are
/// stored once.
struct UnitSeries {
  std::string unit;  // "core"
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  std::vector<std::uint32_t> source;  // by row: the stored row that it is like
  std::uint32_t stored_rows = 0;
  std::vector<std::uint32_t> timed;  // by stored row: the row of channels over time
  std::uint32_t timed_rows = 0;
  std::vector<Cycle> behind;  // by row: when its time begins; empty: with the run
  /// By stored row and column: one more than the unit's number, 0 where there is none. Empty: all
  /// places have a unit, named by row and column.
  std::vector<std::uint32_t> numbers;
  std::vector<Cycle> ends;              // of steps, in the rows' own time
  std::vector<std::string> step_names;  // empty: steps of time
  std::vector<UnitChannel> channels;
  std::vector<PricedUnits> priced;
  std::vector<std::string> row_notes;  // what a row of the die holds; may be empty
  std::vector<std::string> column_notes;
  std::string loss = "Every number is of one unit and exact.";
  std::uint32_t block_columns = 1;  // a value over time is of so many units
  std::uint32_t block_rows = 1;
  std::optional<CriticalPath> path;  // of a window that was asked for

  std::size_t timed_columns() const { return (columns + block_columns - 1) / block_columns; }
  std::size_t cells() const { return timed_columns() * timed_rows; }
  std::uint64_t value(const UnitChannel& channel, std::size_t step, std::size_t row,
                      std::size_t column) const {
    return channel.values[(step * timed_rows + timed[source[row]]) * columns + column];
  }
};

/// Adds the priced counters of one unit, in the `cell`-th of the stored places.
void add_priced(UnitSeries& series, const StatGroup& group, std::size_t cell);

/// `energy` of units over their steps: `standing`, of each, in proportion to time, the rest in
/// proportion to its cycles of compute and exchange. Of rows that share their steps the first
/// one's.
UnitChannel energy_over_time(const UnitChannel& energy, const std::vector<double>& standing,
                             const UnitSeries& series);

/// InternalError unless the parts of the stack of all units add up to those of `result`, which is
/// of one execution; idle cycles are what is left. Before coarsen().
void check_units(const UnitSeries& series, const OpResult& result);

/// Adds up values over time of neighbouring units, in blocks, until at most `most` are left, and
/// says so; what is of the whole run stays that of each unit.
void coarsen(UnitSeries& series, std::size_t most);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/repeated_lines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

constexpr std::uint32_t kLongestPeriod = 8;

/// Lines, rows or columns, that follow each other, each of which is as the one `period` before.
struct Run {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t period = 1;
};

Run longest_run(const std::vector<std::uint32_t>& kinds) {
  Run best;
  const auto size = static_cast<std::uint32_t>(kinds.size());
  for (std::uint32_t period = 1; period <= kLongestPeriod; ++period) {
    for (std::uint32_t first = 0; first + period < size;) {
      std::uint32_t end = first;
      while (end + period < size && kinds[end] == kinds[end + period]) ++end;
      const std::uint32_t count = end - first + period;
      if (end > first && count > best.count) best = {first, count, period};
      first = end + 1;
    }
  }
  return best;
}

/// One direction of a rectangle, of whose lines some are left out.
struct Direction {
  std::uint32_t lines = 0;
  Run run;
  std::uint32_t kept = 0;     // of the run, that are simulated at least
  std::uint32_t removed = 0;  // whole periods
  std::uint32_t block = 0;    // the first line of the block that stands for those left out

  /// Keeps about `kept` lines of the run; all, if that is most of them.
  void cut() {
    removed = 0;
    if (2 * kept < run.count) removed = (run.count - kept) / run.period * run.period;
  }
  std::uint32_t small() const { return lines - removed; }
  std::uint32_t end_of_run() const { return run.first + run.count - removed; }

  /// The line of the whole rectangle that one of the small is, and the other way, for which the
  /// block must be known.
  std::uint32_t whole_of(std::uint32_t line) const {
    return line < end_of_run() ? line : line + removed;
  }
  std::uint32_t small_of(std::uint32_t line) const {
    if (line < block + run.period) return line;
    if (line >= block + run.period + removed) return line - removed;
    return block + (line - block) % run.period;
  }
};

/// The same words in the same cycles through the buffers of two routers on one side.
bool same_through(const std::vector<BufferHistory>& a, const std::vector<BufferHistory>& b,
                  Port side) {
  const auto on_side = [side](auto at, auto end) {
    return std::find_if(at, end, [side](const BufferHistory& of) { return of.from == side; });
  };
  auto x = on_side(a.begin(), a.end());
  auto y = on_side(b.begin(), b.end());
  while (x != a.end() && y != b.end()) {
    if (x->color != y->color || x->passed.pushed != y->passed.pushed ||
        x->passed.popped != y->passed.popped) {
      return false;
    }
    x = on_side(x + 1, a.end());
    y = on_side(y + 1, b.end());
  }
  return x == a.end() && y == b.end();
}

class Repeated {
 public:
  Repeated(const TaskParams& params, const TaskProgram& program, const RunOptions& options,
           const RepeatLimits& limits)
      : params_(params), program_(program), options_(options), limits_(limits) {
    for (const bool rows : {true, false}) {
      Direction& way = ways_.at(rows ? 0 : 1);
      way.lines = rows ? program.rows : program.columns;
      way.run = longest_run(kinds_of_lines(rows));
      way.kept = std::max(limits.lines, 4 * way.run.period);
    }
  }

  Attempt run() {
    for (;;) {
      for (Direction& way : ways_) way.cut();
      if (rows().removed == 0 && columns().removed == 0) {
        return {"few rows or columns repeat", {}};
      }
      const std::size_t cores = std::size_t{rows().small()} * columns().small();
      if (cores * limits_.share > program_.core_of.size()) {
        return {"those that are proven to repeat leave too many cores", {}};
      }
      if (!simulate()) return {"cores wait for each other", {}};
      bool proven = true;
      for (Direction& way : ways_) {
        if (way.removed == 0 || find_block(way)) continue;
        way.kept *= 2;
        proven = false;
      }
      if (proven) return {"", spread()};
    }
  }

 private:
  Direction& rows() { return ways_[0]; }
  Direction& columns() { return ways_[1]; }

  /// A number for each line: those with the same one do the same.
  std::vector<std::uint32_t> kinds_of_lines(bool rows) const {
    const std::uint32_t lines = rows ? program_.rows : program_.columns;
    const std::uint32_t across = rows ? program_.columns : program_.rows;
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;
    std::vector<std::uint32_t> kinds;
    std::vector<std::uint64_t> line(across);
    for (std::uint32_t i = 0; i < lines; ++i) {
      for (std::uint32_t j = 0; j < across; ++j) {
        const std::size_t place =
            rows ? std::size_t{i} * program_.columns + j : std::size_t{j} * program_.columns + i;
        line[j] = std::uint64_t{program_.core_of[place]} << 32U | program_.router_of[place];
      }
      kinds.push_back(known.emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
    }
    return kinds;
  }

  /// False if the cores wait for each other for ever, which the whole rectangle tells better.
  bool simulate() {
    TaskProgram small;
    small.rows = rows().small();
    small.columns = columns().small();
    small.routers = program_.routers;
    small.cores = program_.cores;
    small.routines = program_.routines;
    for (std::uint32_t r = 0; r < small.rows; ++r) {
      for (std::uint32_t c = 0; c < small.columns; ++c) {
        const std::size_t place =
            std::size_t{rows().whole_of(r)} * program_.columns + columns().whole_of(c);
        small.core_of.push_back(program_.core_of[place]);
        small.router_of.push_back(program_.router_of[place]);
      }
    }
    try {
      outcome_ = simulate_rows(params_, small, options_, &histories_);
    } catch (const DeadlockError&) {
      return false;
    }
    return true;
  }

  /// Finds lines of the run before and behind which the same words pass in the same cycles.
  bool find_block(Direction& way) {
    const std::uint32_t period = way.run.period;
    for (way.block = way.run.first + 1; way.block + period < way.end_of_run(); ++way.block) {
      if (is_alike(way)) return true;
    }
    return false;
  }

  bool is_alike(const Direction& way) {
    const bool rows = &way == ways_.data();
    const std::uint32_t columns = ways_[1].small();
    const std::uint32_t across = rows ? columns : ways_[0].small();
    const auto at = [&](std::uint32_t line, std::uint32_t i) -> const std::vector<BufferHistory>& {
      return histories_[rows ? std::size_t{line} * columns + i : std::size_t{i} * columns + line];
    };
    const std::uint32_t end = way.block + way.run.period;
    for (std::uint32_t i = 0; i < across; ++i) {
      if (!same_through(at(way.block, i), at(end, i), rows ? kNorth : kWest)) return false;
      if (!same_through(at(way.block - 1, i), at(end - 1, i), rows ? kSouth : kEast)) return false;
    }
    return true;
  }

  TaskOutcome spread() {
    TaskOutcome whole;
    whole.cycles = outcome_.cycles;
    whole.simulated = outcome_.cores.size();
    const std::size_t cores = program_.core_of.size();
    whole.cores.reserve(cores);
    whole.routers.reserve(cores);
    whole.stamps.reserve(cores);
    for (std::uint32_t r = 0; r < program_.rows; ++r) {
      const std::size_t row = std::size_t{rows().small_of(r)} * columns().small();
      for (std::uint32_t c = 0; c < program_.columns; ++c) {
        const std::size_t place = row + columns().small_of(c);
        whole.cores.push_back(outcome_.cores[place]);
        whole.routers.push_back(outcome_.routers[place]);
        whole.stamps.push_back(outcome_.stamps[place]);
      }
    }
    return whole;
  }

  const TaskParams& params_;
  const TaskProgram& program_;
  const RunOptions& options_;
  const RepeatLimits limits_;
  std::array<Direction, 2> ways_;  // rows, columns
  TaskOutcome outcome_;            // of the small rectangle
  BufferHistories histories_;
};

}  // namespace

Attempt simulate_repeated(const TaskParams& params, const TaskProgram& program,
                          const RunOptions& options, const RepeatLimits& limits) {
  if (!options.fold) return {"switched off", {}};
  if (program.core_of.empty()) return {"there are no cores", {}};
  if (!program.memory.empty()) return {"each core carries values of its own", {}};
  return Repeated(params, program, options, limits).run();
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/engine/fold.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What a core had counted when it was looked at: its cycles by CoreCycle, but kDone, and then
inline constexpr std::size_t kRowsDone = kCoreCycles;          // commands that took effect
inline constexpr std::size_t kBuffersInUse = kCoreCycles + 1;  // times cycles
inline constexpr std::size_t kStreamWords =
    kCoreCycles + 2;                                       // taken out of the queue of the stream
inline constexpr std::size_t kSumWords = kCoreCycles + 3;  // of reductions
inline constexpr std::size_t kCoreMarks = kCoreCycles + 4;
using CoreMark = std::array<std::uint64_t, kCoreMarks>;

/// Those of a row of cores, by column, at the ends of its steps. Rows that parted have the same
/// marks up to there.
using RowMark = std::shared_ptr<const std::vector<CoreMark>>;
using RowMarks = std::vector<RowMark>;

/// The marks of the rows that did things of their own, and which of them each row of the program
/// has. Steps are of a row's own time, which begins as many hops after the run as it lies behind
/// where words enter.
struct WaferMarks {
  std::vector<RowMarks> rows;
  std::vector<std::uint32_t> row_of;
};

/// `counted` of a core whose time begins `lag` cycles after that of the run.
CoreMark mark_of(const CoreCounters& counted, Cycle lag);

/// Looks at the cores of each kept row at the ends of its steps, in a run unit by unit. What comes
/// after a row's last mark is the end of its run.
class RowWatch {
 public:
  /// Of a run of the rows `fold` keeps, whose program has `columns` columns; referred to.
  RowWatch(const FoldPlan& fold, std::size_t columns, Cycle hop, Cycle length);

  /// Has `options` report to this object.
  void watch(RunOptions& options);

  WaferMarks take();

 private:
  Cycle lag(std::size_t kept) const;
  Cycle next_look(Cycle after) const;
  Cycle look(Cycle at, CountedWafer& wafer);

  const FoldPlan& fold_;
  std::size_t columns_;
  Cycle hop_;
  Cycle length_;
  std::vector<Cycle> next_;  // look at each kept row
  std::vector<RowMarks> rows_;
};

/// UnsupportedError if more marks of cores are to be kept than memory should hold.
void require_marks(std::uint64_t marks);

}  // namespace lacuna::wse

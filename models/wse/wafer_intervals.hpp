// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/wse/engine/fold.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/wafer.hpp"
#include "models/wse/wafer_stats.hpp"

namespace lacuna::wse {

/// What a wafer had counted at the end of each interval of a run, folded or not. A row that repeats
/// another some hops later is counted from what that one had done so many hops before the border,
/// so that a folded run has the intervals of a full one.
class WaferIntervals {
 public:
  /// Of a run of the rows that `fold` keeps of `program`; all are referred to. `rows_off` further
  /// rows have nothing to do.
  WaferIntervals(const Program& program, const FoldPlan& fold, const HardwareParams& hardware,
                 std::uint64_t rows_off, Cycle length);

  /// Has `options` report to this object.
  void watch(RunOptions& options);

  /// Calls `visit` for each border of `run`, which this has watched, but the end of the run.
  void for_each_border(const WaferOutcome& run,
                       const std::function<void(Cycle at, const WaferStats&)>& visit);

 private:
  Cycle look(Cycle at, CountedWafer& wafer);
  WaferStats& border(std::size_t number);
  Cycle behind(std::size_t row) const {
    return Cycle{fold_.hops_behind(row)} * QueueShapes(hardware_.router).link().latency;
  }
  Cycle next_look(Cycle after) const;

  const Program& program_;
  const FoldPlan& fold_;
  const HardwareParams& hardware_;
  std::uint64_t rows_off_;
  Cycle length_;
  std::vector<std::vector<std::uint32_t>> rows_of_;   // by kept row
  std::vector<Cycle> phases_;                         // of looks within an interval, ascending
  std::vector<std::unique_ptr<WaferStats>> borders_;  // the first at the end of interval 0
};

}  // namespace lacuna::wse

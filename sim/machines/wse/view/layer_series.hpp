// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "models/wse/task_outcome.hpp"
#include "models/wse/wafer.hpp"
#include "sim/machines/wse/view/core_series.hpp"
#include "sim/report/unit_series.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna {

/// Runs `part` again, looked at in these cycles, which ascend, but for cycle 0.
wse::TaskOutcome looked_at(const wse::TaskParams& hardware, const wse::TaskProgram& part,
                           wse::RunOptions options, const std::vector<Cycle>& cycles,
                           const std::function<void(Cycle, const wse::TaskOutcome&)>& look);

/// What each core did in the stages of a layer, whose cycles are known: a distinct part is
/// simulated once more and looked at where steps end, in whichever of its executions, and counts
/// wherever it lies.
class LayerUnits {
 public:
  /// `columns` x `rows` cores, in steps of `length` cycles.
  LayerUnits(wse::TaskParams hardware, wse::RunOptions options, std::uint32_t columns,
             std::uint32_t rows, Cycle length);

  /// The next stage, each execution of which takes `cycles`.
  void add(const wse::LayerStage& stage, Cycle cycles);

  UnitSeries take();

 private:
  using Counts = decltype(TaskMark::cores)::value_type;
  struct Seen {
    std::map<Cycle, TaskMark> at;  // by phase
    TaskMark end;
  };

  Seen look_at(const wse::TaskProgram& part, const std::vector<Cycle>& phases,
               wse::TaskOutcome& whole) const;
  void add_priced_of(const wse::LayerStage& stage, std::size_t part, const wse::TaskOutcome& whole,
                     Cycle cycles);
  template <class Visit>
  void for_each_core(const wse::LayerStage& stage, std::size_t part, const Visit& visit) const;

  wse::TaskParams hardware_;
  wse::RunOptions options_;
  std::uint32_t columns_;
  Cycle length_;
  Cycle before_ = 0;  // of the stages that were added
  TaskMark done_;     // by them
  std::vector<TaskMark> marks_;
  std::vector<wse::RouterCounters> routers_;
  UnitSeries priced_;  // its priced counters alone
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "models/wse/limit_stats.hpp"
#include "models/wse/task_counters.hpp"
#include "models/wse/task_outcome.hpp"
#include "models/wse/totals.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::wse {

/// Where the cycles of cores that run tasks went, all together.
struct TaskCycleStats : TotalsOf<TaskCounters> {
  using TotalsOf::TotalsOf;
  CycleTotal vector{this, spent<TaskCycle::vector>, "vector", Layer::compute,
                    "Beats of instructions that work on memory alone."};
  CycleTotal scalar{this, spent<TaskCycle::scalar>, "scalar", Layer::compute,
                    "Scalar code: what starts instructions, loops, addresses."};
  CycleTotal special{this, spent<TaskCycle::special>, "special", Layer::compute,
                     "Divisions and special functions, beyond their first cycle."};
  CycleTotal fabric{this, spent<TaskCycle::fabric>, "fabric", Layer::exchange,
                    "Beats with words of the fabric."};
  CycleTotal bank{this, spent<TaskCycle::conflict>, "bank", Layer::stall,
                  "Further cycles of beats that conflict in a bank or exceed the memory ports."};
  CycleTotal residual{this, spent<TaskCycle::residual>, "residual", Layer::stall,
                      "Stalls of multiply-accumulates in place without a conflict."};
  CycleTotal dispatch{this, spent<TaskCycle::dispatch>, "dispatch", Layer::stall,
                      "A task was being started and nothing else could issue."};
  CycleTotal wait_out{this, spent<TaskCycle::wait_out>, "wait_out", Layer::stall,
                      "An instruction had no room in its output queue."};
  CycleTotal wait_in{this, spent<TaskCycle::wait_in>, "wait_in", Layer::imbalance,
                     "An instruction waited for words."};
  CycleTotal drained{this, spent<TaskCycle::idle>, "drained", Layer::idle,
                     "The core had nothing to do."};
};

/// In results the numbers follow the cycles.
struct TaskTotal : TotalsOf<TaskCounters>::Total {
  using Home = TaskCycleStats;
  using Total::Total;
};

/// What cores that run tasks counted, all together.
struct TaskCoreStats : TaskCounts<TaskTotal> {
  using TaskCounts::TaskCounts;
};

struct TaskRouterStats : LinkTotals {
  using LinkTotals::LinkTotals;
  RowStats buffers{this, kBufferCountWords};  // of all colors together
  Total drops{this, [](const RouterCounters& router) -> std::uint64_t { return router.filtered; },
              "filter_drops", "wavelets", "Words that a filter kept from their core."};

  void add(const RouterCounters& router) {
    LinkTotals::add(router);
    buffers.add([&](std::size_t i) {
      const ByColor& counted = router.statistic(static_cast<int>(i));
      return std::accumulate(counted.begin(), counted.end(), std::uint64_t{0});
    });
  }
};

/// What all units of a rectangle counted, and how many bytes they moved.
struct TaskStats {
  TaskCoreStats core{"wafer.tasks"};
  TaskRouterStats router{"wafer.fabric"};
  LimitStats limits{"wafer.limits"};
  std::uint64_t sram_read_bytes = 0;
  std::uint64_t sram_write_bytes = 0;

  /// Adds `times` runs like `run`, each in a span of `cycles`, after which its cores are idle.
  void add(const TaskOutcome& run, std::uint64_t times, Cycle cycles);

  /// Adds what `times` stages of these runs, all of which begin together and are waited for, could
  /// not do without: the issue slots of the busiest of their cores.
  void add_limits(const std::vector<const TaskOutcome*>& stage, std::uint64_t times);

  /// Adds that of the mean of `units` cores, when all else has been added.
  void add_mean(std::uint64_t units);

  /// Adds `cores` that do nothing for `cycles`.
  void add_idle(std::uint64_t cores, Cycle cycles);
};

}  // namespace lacuna::wse

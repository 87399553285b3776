// SPDX-License-Identifier: Apache-2.0
#include "models/wse/task_stats.hpp"

#include <algorithm>
#include <cstddef>

namespace lacuna::wse {
namespace {

class CoreSum {
 public:
  CoreSum(const TaskCounters& counters, std::uint64_t times) : c_(counters), times_(times) {}

  std::uint64_t cycles(TaskCycle kind) const {
    return c_.cycles[static_cast<std::size_t>(kind)] * times_;
  }
  /// What its program computes: all but beats with words of the fabric.
  std::uint64_t computes() const {
    return cycles(TaskCycle::vector) + cycles(TaskCycle::scalar) + cycles(TaskCycle::special);
  }
  std::uint64_t busy() const { return computes() + cycles(TaskCycle::fabric); }

  void add_to(TaskCoreStats& stats) const {
    stats.add(c_, times_);
    stats.issues += busy() + c_.beside * times_;
    stats.busy += busy();
  }

 private:
  const TaskCounters& c_;
  std::uint64_t times_;
};

}  // namespace

void TaskStats::add(const TaskOutcome& run, std::uint64_t times, Cycle cycles) {
  for (const TaskCounters& counters : run.cores) {
    const CoreSum sum(counters, times);
    sum.add_to(core);
    core.drained += (cycles - run.cycles) * times;
    core.idle += cycles * times - sum.busy();
    sram_read_bytes += counters.read_bytes * times;
    sram_write_bytes += counters.write_bytes * times;
  }
  RouterCounters all;
  for (const RouterCounters& counters : run.routers) all.add(counters, times);
  router.add(all);
  core.ejected += all.sent[kRamp];  // a word that a filter drops has been on the ramp
}

void TaskStats::add_limits(const std::vector<const TaskOutcome*>& stage, std::uint64_t times) {
  std::uint64_t busiest = 0;
  std::uint64_t computes = 0;
  for (const TaskOutcome* const run : stage) {
    for (const TaskCounters& counters : run->cores) {
      const CoreSum sum(counters, times);
      busiest = std::max(busiest, sum.busy());
      computes = std::max(computes, sum.computes());
    }
  }
  limits.busiest += busiest;
  limits.multiplies += computes;
}

void TaskStats::add_mean(std::uint64_t units) {
  if (units != 0) limits.mean += core.busy.value() / units;
}

void TaskStats::add_idle(std::uint64_t cores, Cycle cycles) {
  core.drained += cores * cycles;
  core.idle += cores * cycles;
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "models/wse/limit_stats.hpp"
#include "models/wse/sums.hpp"
#include "models/wse/task_counters.hpp"
#include "models/wse/task_outcome.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::wse {

/// What cores that run tasks counted, all together.
struct TaskCoreStats : SumsOf<TaskCounters> {
  using SumsOf::SumsOf;
  CycleSum vector{this, spent<TaskCycle::vector>, "vector", Layer::compute,
                  "Beats of instructions that work on memory alone."};
  CycleSum scalar{this, spent<TaskCycle::scalar>, "scalar", Layer::compute,
                  "Scalar code: what starts instructions, loops, addresses."};
  CycleSum special{this, spent<TaskCycle::special>, "special", Layer::compute,
                   "Divisions and special functions, beyond their first cycle."};
  CycleSum fabric{this, spent<TaskCycle::fabric>, "fabric", Layer::exchange,
                  "Beats with words of the fabric."};
  CycleSum bank{this, spent<TaskCycle::conflict>, "bank", Layer::stall,
                "Further cycles of beats that conflict in a bank or exceed the memory ports."};
  CycleSum residual{this, spent<TaskCycle::residual>, "residual", Layer::stall,
                    "Stalls of multiply-accumulates in place without a conflict."};
  CycleSum dispatch{this, spent<TaskCycle::dispatch>, "dispatch", Layer::stall,
                    "A task was being started and nothing else could issue."};
  CycleSum wait_out{this, spent<TaskCycle::wait_out>, "wait_out", Layer::stall,
                    "An instruction had no room in its output queue."};
  CycleSum wait_in{this, spent<TaskCycle::wait_in>, "wait_in", Layer::imbalance,
                   "An instruction waited for words."};
  CycleSum drained{this, spent<TaskCycle::idle>, "drained", Layer::idle,
                   "The core had nothing to do."};

  Sum mac16{this,  &TaskCounters::mac16,          "mac_actual_fp16_acc16",
            "MAC", "Products formed, FP16 sums.", "mac_fp16_acc16"};
  Sum mac32{this,  &TaskCounters::mac16_32,       "mac_actual_fp16_acc32",
            "MAC", "Products formed, FP32 sums.", "mac_fp16_acc32"};
  Sum mac_fp32{this,  &TaskCounters::mac32,     "mac_actual_fp32",
               "MAC", "Products formed, FP32.", "mac_fp32"};
  Counter mac_skipped{this, "mac_skipped", "MAC", "Products with an element that is left out."};
  Counter mac_edge{this, "mac_edge", "MAC",
                   "Multiply-accumulates outside the product: sums, and padding of tiles."};
  Sum add16{this,         &TaskCounters::add16,          "vec_add_fp16",
            "operations", "Additions and maxima, FP16.", "vec_add_fp16"};
  Sum add32{this,         &TaskCounters::add32,          "vec_add_fp32",
            "operations", "Additions and maxima, FP32.", "vec_add_fp32"};
  Sum mul16{this,         &TaskCounters::mul16,     "vec_mul_fp16",
            "operations", "Multiplications, FP16.", "vec_mul_fp16"};
  Sum mul32{this,         &TaskCounters::mul32,     "vec_mul_fp32",
            "operations", "Multiplications, FP32.", "vec_mul_fp32"};
  Sum special16{this,
                &TaskCounters::special16,
                "sfu_fp16",
                "operations",
                "Divisions and special functions, FP16.",
                "sfu_fp16"};
  Sum special32{this,
                &TaskCounters::special32,
                "sfu_fp32",
                "operations",
                "Divisions and special functions, FP32.",
                "sfu_fp32"};
  Counter issues{this, "issues", "issues",
                 "Beats; with core.slots = 2 there can be two of them in a busy cycle.", "issue"};
  Sum reads{this,       &TaskCounters::reads,      "sram_reads_operand",
            "accesses", "64-bit reads of memory.", "sram_read"};
  Sum writes{this,       &TaskCounters::writes,      "sram_writes_result",
             "accesses", "64-bit writes of memory.", "sram_write"};
  Sum injected{this,
               &TaskCounters::sent,
               "wavelets_injected",
               "wavelets",
               "Sent by cores to their routers.",
               "ramp_inject"};
  Counter ejected{this, "wavelets_ejected", "wavelets", "Sent by routers to their cores.",
                  "ramp_eject"};
  Sum deliveries{this, &TaskCounters::received, "wavelet_deliveries", "wavelets",
                 "Taken by cores out of their queues."};
  Sum tasks{this,
            &TaskCounters::tasks,
            "tasks_started",
            "tasks",
            "Tasks that a wavelet or software started.",
            "task_start"};
  Sum instructions{this, &TaskCounters::instructions, "instructions", "instructions",
                   "Tensor instructions started."};
  Counter busy{this, "busy_cycles", "cycles", "The datapath did something."};
  Counter idle{this, "idle_cycles", "cycles", "The datapath did nothing, whatever the reason."};
};

struct TaskRouterStats : LinkSums {
  using LinkSums::LinkSums;
  Sum stalls{this,
             [](const RouterCounters& router) {
               return std::accumulate(router.stalls.begin(), router.stalls.end(), std::uint64_t{0});
             },
             "stalls", "cycles", "A word at the head of a buffer stayed there."};
  Sum drops{this, &RouterCounters::filtered, "filter_drops", "wavelets",
            "Words that a filter kept from their core."};
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

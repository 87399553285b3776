// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/limit_stats.hpp"
#include "models/wse/task_outcome.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::wse {

/// What cores that run tasks counted, all together.
struct TaskCoreStats : StatGroup {
  using StatGroup::StatGroup;
  CycleCounter vector{this, "vector", Layer::compute,
                      "Beats of instructions that work on memory alone."};
  CycleCounter scalar{this, "scalar", Layer::compute,
                      "Scalar code: what starts instructions, loops, addresses."};
  CycleCounter special{this, "special", Layer::compute,
                       "Divisions and special functions, beyond their first cycle."};
  CycleCounter fabric{this, "fabric", Layer::exchange, "Beats with words of the fabric."};
  CycleCounter bank{this, "bank", Layer::stall,
                    "Further cycles of beats that conflict in a bank or exceed the memory ports."};
  CycleCounter residual{this, "residual", Layer::stall,
                        "Stalls of multiply-accumulates in place without a conflict."};
  CycleCounter dispatch{this, "dispatch", Layer::stall,
                        "A task was being started and nothing else could issue."};
  CycleCounter wait_out{this, "wait_out", Layer::stall,
                        "An instruction had no room in its output queue."};
  CycleCounter wait_in{this, "wait_in", Layer::imbalance, "An instruction waited for words."};
  CycleCounter drained{this, "drained", Layer::idle, "The core had nothing to do."};

  Counter mac16{this, "mac_actual_fp16_acc16", "MAC", "Products formed, FP16 sums.",
                "mac_fp16_acc16"};
  Counter mac32{this, "mac_actual_fp16_acc32", "MAC", "Products formed, FP32 sums.",
                "mac_fp16_acc32"};
  Counter mac_fp32{this, "mac_actual_fp32", "MAC", "Products formed, FP32.", "mac_fp32"};
  Counter mac_skipped{this, "mac_skipped", "MAC", "Products with an element that is left out."};
  Counter mac_edge{this, "mac_edge", "MAC",
                   "Multiply-accumulates outside the product: sums, and padding of tiles."};
  Counter add16{this, "vec_add_fp16", "operations", "Additions and maxima, FP16.", "vec_add_fp16"};
  Counter add32{this, "vec_add_fp32", "operations", "Additions and maxima, FP32.", "vec_add_fp32"};
  Counter mul16{this, "vec_mul_fp16", "operations", "Multiplications, FP16.", "vec_mul_fp16"};
  Counter mul32{this, "vec_mul_fp32", "operations", "Multiplications, FP32.", "vec_mul_fp32"};
  Counter special16{this, "sfu_fp16", "operations", "Divisions and special functions, FP16.",
                    "sfu_fp16"};
  Counter special32{this, "sfu_fp32", "operations", "Divisions and special functions, FP32.",
                    "sfu_fp32"};
  Counter issues{this, "issues", "issues",
                 "Beats; with core.slots = 2 there can be two of them in a busy cycle.", "issue"};
  Counter reads{this, "sram_reads_operand", "accesses", "64-bit reads of memory.", "sram_read"};
  Counter writes{this, "sram_writes_result", "accesses", "64-bit writes of memory.", "sram_write"};
  Counter injected{this, "wavelets_injected", "wavelets", "Sent by cores to their routers.",
                   "ramp_inject"};
  Counter ejected{this, "wavelets_ejected", "wavelets", "Sent by routers to their cores.",
                  "ramp_eject"};
  Counter deliveries{this, "wavelet_deliveries", "wavelets", "Taken by cores out of their queues."};
  Counter tasks{this, "tasks_started", "tasks", "Tasks that a wavelet or software started.",
                "task_start"};
  Counter instructions{this, "instructions", "instructions", "Tensor instructions started."};
  Counter busy{this, "busy_cycles", "cycles", "The datapath did something."};
  Counter idle{this, "idle_cycles", "cycles", "The datapath did nothing, whatever the reason."};
};

struct TaskRouterStats : StatGroup {
  using StatGroup::StatGroup;
  Counter hops{this, "hops", "wavelets", "Wavelets times links between routers.", "hop"};
  Counter north{this, "sent_north", "wavelets", "Wavelets passed on to the north."};
  Counter east{this, "sent_east", "wavelets", "Wavelets passed on to the east."};
  Counter south{this, "sent_south", "wavelets", "Wavelets passed on to the south."};
  Counter west{this, "sent_west", "wavelets", "Wavelets passed on to the west."};
  Counter stalls{this, "stalls", "cycles", "A word at the head of a buffer stayed there."};
  Counter drops{this, "filter_drops", "wavelets", "Words that a filter kept from their core."};
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

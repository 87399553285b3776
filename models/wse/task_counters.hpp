// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/wse/unit_count.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// How a core that runs tasks spends a cycle.
enum class TaskCycle : std::uint8_t {
  vector,    // a beat that works on memory alone
  fabric,    // a beat with words of the fabric
  scalar,    // scalar code
  conflict,  // of a beat: two reads of one bank, or too many bytes for the ports
  residual,  // of a multiply-accumulate in place
  special,   // of a division or special function, beyond its first
  dispatch,  // a task was being started and nothing could issue
  wait_in,   // an instruction waited for words
  wait_out,  // and one for room in its output queue
  idle,      // nothing to do
};
inline constexpr unsigned kTaskCycles = 10;

/// What one core counts, each number in the statistic it is declared with.
template <class Field>
struct TaskCounts : Field::Home {
  using Home = typename Field::Home;
  using Home::Home;
  using Silent = typename Field::Silent;
  using OfAll = typename Field::OfAll;
  Field mac16{this, "mac_actual_fp16_acc16", "MAC", "Products formed, FP16 sums.",
              "mac_fp16_acc16"};
  Field mac16_32{this, "mac_actual_fp16_acc32", "MAC", "Products formed, FP32 sums.",
                 "mac_fp16_acc32"};
  Field mac32{this, "mac_actual_fp32", "MAC", "Products formed, FP32.", "mac_fp32"};
  OfAll mac_skipped{this, "mac_skipped", "MAC", "Products with an element that is left out."};
  OfAll mac_edge{this, "mac_edge", "MAC",
                 "Multiply-accumulates outside the product: sums, and padding of tiles."};
  Field add16{this, "vec_add_fp16", "operations", "Additions and maxima, FP16.", "vec_add_fp16"};
  Field add32{this, "vec_add_fp32", "operations", "Additions and maxima, FP32.", "vec_add_fp32"};
  Field mul16{this, "vec_mul_fp16", "operations", "Multiplications, FP16.", "vec_mul_fp16"};
  Field mul32{this, "vec_mul_fp32", "operations", "Multiplications, FP32.", "vec_mul_fp32"};
  Field special16{this, "sfu_fp16", "operations", "Divisions and special functions, FP16.",
                  "sfu_fp16"};
  Field special32{this, "sfu_fp32", "operations", "Divisions and special functions, FP32.",
                  "sfu_fp32"};
  OfAll issues{this, "issues", "issues",
               "Beats; with core.slots = 2 there can be two of them in a busy cycle.", "issue"};
  Silent beside{this};  // beats of microthreads in cycles of the main thread's slot
  Field reads{this, "sram_reads_operand", "accesses", "64-bit reads of memory.", "sram_read"};
  Field writes{this, "sram_writes_result", "accesses", "64-bit writes of memory.", "sram_write"};
  Silent read_bytes{this};
  Silent write_bytes{this};
  Field sent{this, "wavelets_injected", "wavelets", "Sent by cores to their routers.",
             "ramp_inject"};
  OfAll ejected{this, "wavelets_ejected", "wavelets", "Sent by routers to their cores.",
                "ramp_eject"};
  Field received{this, "wavelet_deliveries", "wavelets", "Taken by cores out of their queues."};
  Field tasks{this, "tasks_started", "tasks", "Tasks that a wavelet or software started.",
              "task_start"};
  Field instructions{this, "instructions", "instructions", "Tensor instructions started."};
  OfAll busy{this, "busy_cycles", "cycles", "The datapath did something."};
  OfAll idle{this, "idle_cycles", "cycles", "The datapath did nothing, whatever the reason."};
};

struct TaskCounters : TaskCounts<UnitCount> {
  using Declared = TaskCounts<UnitCount>;
  std::array<std::uint64_t, kTaskCycles> cycles{};
  Cycle begin = kNever;  // of the first issue slot
  Cycle end = 0;         // after the last
};

inline bool operator==(const TaskCounters& a, const TaskCounters& b) { return same_counts(a, b); }

}  // namespace lacuna::wse

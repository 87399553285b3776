// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wse/engine/fold.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/limit_stats.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/stream_tallies.hpp"
#include "models/wse/totals.hpp"
#include "models/wse/wafer.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::wse {

struct CoreStats : TotalsOf<CoreCounters> {
  using TotalsOf::TotalsOf;
  CycleTotal fma{this, spent<kFma>, "fma", Layer::compute, "Beats of multiply-accumulates."};
  CycleTotal scalar{this, spent<kScalar>, "scalar", Layer::compute,
                    "Instructions around the products of non-zeros that a core keeps."};
  CycleTotal reduce{this, spent<kReduce>, "reduce", Layer::exchange,
                    "Beats of reductions along the ring."};
  CycleTotal bank{this, spent<kConflict>, "bank", Layer::stall,
                  "Further cycles of beats that conflict in a bank or exceed the memory ports."};
  CycleTotal residual{this, spent<kResidual>, "residual", Layer::stall,
                      "Stalls of FP32 multiply-accumulates without a conflict."};
  CycleTotal dispatch{this, spent<kDispatch>, "dispatch", Layer::stall,
                      "A handler was being dispatched and nothing else could issue."};
  CycleTotal ring_out{this, spent<kWaitRingOut>, "ring_out", Layer::stall,
                      "The reduction had no room in its output queue."};
  CycleTotal buffer{this, spent<kWaitBuffer>, "buffer", Layer::stall,
                    "The main thread waited for a free partial-sum vector."};
  CycleTotal weights{this, spent<kWaitWeights>, "edge_in", Layer::imbalance,
                     "Waited for the edge: no weight, activation or command had arrived."};
  CycleTotal ring_in{this, spent<kWaitRingIn>, "ring_in", Layer::imbalance,
                     "All weights were done and the reduction waited for the ring."};
  CycleCounter skew{this, "skew", Layer::idle,
                    "Wavelets reach lower rows later, and lower rows end later."};
  CycleCounter drained{this, "drained", Layer::idle, "The core had finished."};
  CycleCounter unused{this, "unused", Layer::idle, "The core had no tokens."};

  Counter mac16{this, "mac_actual_fp16_acc16", "MAC", "Products formed, FP16 sums.",
                "mac_fp16_acc16"};
  Counter mac32{this, "mac_actual_fp16_acc32", "MAC", "Products formed, FP32 sums.",
                "mac_fp16_acc32"};
  Counter mac_fp32{this, "mac_actual_fp32", "MAC", "Products formed, FP32.", "mac_fp32"};
  Counter mac_int8{this, "mac_actual_int8", "MAC", "Products formed, INT8.", "mac_int8_acc32"};
  Counter mac_skipped{this, "mac_skipped", "MAC",
                      "Products with a zero weight, which was never sent."};
  Counter mac_zero{this, "mac_zero", "MAC",
                   "Products formed with a weight that is zero, or for its gradient."};
  Counter mac_edge{this, "mac_edge", "MAC", "Products formed outside the matrices."};
  Counter add16{this, "vec_add_fp16", "operations", "Additions along the ring, FP16.",
                "vec_add_fp16"};
  Counter add32{this, "vec_add_fp32", "operations", "Additions along the ring, FP32.",
                "vec_add_fp32"};
  Counter add_int{this, "vec_int", "operations", "Additions along the ring, INT32.", "vec_int"};
  Counter issues{this, "issues", "issues",
                 "Beats; with core.slots = 2 there can be two of them in a busy cycle.", "issue"};
  Counter reads_input{this, "sram_reads_input", "accesses", "64-bit reads of activations.",
                      "sram_read"};
  Counter reads_partial{this, "sram_reads_partial", "accesses", "64-bit reads of partial sums.",
                        "sram_read"};
  Counter writes_partial{this, "sram_writes_partial", "accesses", "64-bit writes of partial sums.",
                         "sram_write"};
  Counter writes_output{this, "sram_writes_output", "accesses", "64-bit writes of results.",
                        "sram_write"};
  Counter cache_accesses{this, "cache_accesses", "accesses",
                         "64-bit accesses to partial sums in the core's cache."};
  Total injected{this,
                 &CoreCounters::sent,
                 "wavelets_injected",
                 "wavelets",
                 "Sent by cores to their routers.",
                 "ramp_inject"};
  Counter ejected{this, "wavelets_ejected", "wavelets", "Sent by routers to their cores.",
                  "ramp_eject"};
  Counter deliveries{this, "wavelet_deliveries", "wavelets",
                     "Wavelets sent, each times the cores it is for."};
  Counter index_decodes{this, "index_decodes", "wavelets", "Wavelets whose index made an address.",
                        "index_decode"};
  Counter tasks{this, "tasks_started", "tasks", "Handlers of weights and commands.", "task_start"};
  Total reductions{this, &CoreCounters::reductions, "reductions", "reductions",
                   "Steps of the ring taken by cores."};
  RowStats tallies{this, kStreamTallies};
  Total buffer_cycles{this, &CoreCounters::buffers_in_use, "buffer_cycles", "vector-cycles",
                      "Partial-sum vectors in use, added up over cycles."};
  Counter busy{this, "busy_cycles", "cycles", "The datapath did something."};
  Counter idle{this, "idle_cycles", "cycles", "The datapath did nothing, whatever the reason."};
};

struct RouterStats : LinkTotals {
  using LinkTotals::LinkTotals;
  Counter stalls_weights{this, "stalls_weights", "cycles",
                         "A weight or command at the head of a buffer stayed there."};
  Counter stalls_ring{this, "stalls_ring", "cycles",
                      "A partial sum at the head of a buffer stayed there."};
  Counter left_out{this, "words_filtered", "wavelets",
                   "Zeros left out times the links they would have crossed, injectors' included."};
  Total shut{this, [](const RouterCounters& router) -> std::uint64_t { return router.closures; },
             "closures", "cycles",
             "A copy to the south found its link closed; zero is what proves a fold."};
};

struct EdgeStats : InjectorCounts<TotalsOf<InjectorCounters>::Total> {
  using InjectorCounts::InjectorCounts;
  Counter zero_tests{this, "zero_tests", "elements", "Weights the sender compared with zero."};
  Counter left_out{this, "zeros_filtered", "elements", "Weights the sender left out."};
};

/// What a stream that leaves nothing out takes in either form.
struct UnfilteredStats : StatGroup {
  UnfilteredStats() : StatGroup("wafer.unfiltered") {}
  Counter indexed{this, "cycles_indexed", "cycles", "With an index for each value."};
  Counter packed{this, "cycles_packed", "cycles", "Without indices, FP16 values in pairs."};
};

/// Filters of zeros at the ramps of the cores.
struct ReceiverFilterStats : StatGroup {
  ReceiverFilterStats() : StatGroup("wafer.receiver_filter") {}
  Counter tests{this, "words_tested", "wavelets", "Weights compared with zero, by all cores."};
  Counter dropped{this, "words_dropped", "wavelets", "Zeros dropped before they started a task."};
};

/// What all units of a wafer counted, and how many bytes they moved.
struct WaferStats {
  CoreStats core{"wafer.core"};
  RouterStats router{"wafer.router"};
  EdgeStats edge{"wafer.edge"};
  LimitStats limits{"wafer.limits"};
  std::uint64_t sram_read_bytes = 0;
  std::uint64_t sram_write_bytes = 0;

  /// Adds the counts of `run`, a run of the rows `plan` keeps, for all rows of `program` and
  /// `rows_off` rows without tokens.
  void collect(const WaferOutcome& run, const FoldPlan& plan, const Program& program,
               const HardwareParams& params, std::uint64_t rows_off);

  /// Adds `row` of `program` as it stood at cycle `at`, when its representative had counted
  /// `counts` so many cycles before as the row is behind; or those of its cores that are counted.
  void add_row(const RowCounts& counts, const FoldPlan& plan, const Program& program,
               const HardwareParams& params, std::size_t row, Cycle at);

  /// Finds the limits of `run`, what else it has counted being known.
  void add_limits(const WaferOutcome& run, const Program& program);

  /// Adds the injectors as they stood at cycle `at`, after a run of `cycles` at most.
  void add_edge(const std::vector<InjectorCounters>& injectors, const Program& program,
                Cycle cycles, Cycle at);

  /// The same for a weight gradient, all rows of which were run.
  void collect_gradient(const WaferOutcome& run, const Program& program,
                        const HardwareParams& params, std::uint64_t rows_off);
};

/// What the kept row `row` counted in a whole run.
RowCounts count_row(const WaferOutcome& run, std::size_t row, std::size_t columns);

/// When a run of all rows ends, known from a run of the rows `plan` keeps.
Cycle full_cycles(const WaferOutcome& run, const FoldPlan& plan, const Program& program,
                  const RouterParams& params);

}  // namespace lacuna::wse

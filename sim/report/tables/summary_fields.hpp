// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// Calls `visit(key, member)` for the cells of a row, in the order of summary.csv; of a range, that
/// has three cells, `visit(name, unit, member)`. One list serves columns, cells and JSON.
template <class Row, class Visit>
void for_each_cell(Row& row, const Visit& visit) {
  visit("run", row.run);
  visit("machine", row.machine);
  visit("engine", row.engine);
  visit("exact", row.exact);
  visit("workload", row.workload);
  visit("op_id", row.op_id);
  visit("op", row.op);
  visit("m", row.m);
  visit("k", row.k);
  visit("n", row.n);
  visit("dtype", row.dtype);
  visit("pattern", row.pattern);
  visit("density", row.density);
  visit("block", row.block);
  visit("mode", row.mode);
  visit("residency", row.residency);
  visit("x_kept", row.x_density);
  visit("seed", row.seed);
  visit("cycles", row.cycles);
  visit("time_s", row.time_s);
  visit("useful_flop", row.useful_flop);
  visit("useful_tflops", row.useful_tflops);
  visit("dense_tflops", row.dense_tflops);
  visit("speedup_vs_dense", row.speedup_vs_dense);
  visit("utilisation", row.utilisation);
  visit("sram_read_bytes", row.sram_read_bytes);
  visit("sram_write_bytes", row.sram_write_bytes);
  visit("fabric_bytes", row.fabric_bytes);
  visit("io_bytes", row.io_bytes);
  visit("sram_gbps", row.sram_gbps);
  visit("fabric_gbps", row.fabric_gbps);
  visit("io_gbps", row.io_gbps);
  visit("energy", "_j", row.energy_j);
  visit("power_w", row.power_w);
  visit("pj_per_useful_flop", row.pj_per_useful_flop);
  visit("silicon_mm2", row.silicon_mm2);
  visit("gflops_per_mm2", row.gflops_per_mm2);
  visit("time_low_s", row.time_low_s);
  visit("time_high_s", row.time_high_s);
  visit("speedup_low", row.speedup_low);
  visit("speedup_high", row.speedup_high);
  visit("energy_vs_dense", "", row.energy_vs_dense);
  visit("trust", row.trust);
  visit("status", row.status);
  visit("reason", row.reason);
}

}  // namespace lacuna

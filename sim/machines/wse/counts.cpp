// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/counts.hpp"

#include <algorithm>

#include "sim/machines/result_builder.hpp"
#include "sim/machines/wse/kernel_stats.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

CountsSoFar task_counts(const wse::TaskStats& stats) {
  CountsSoFar counts = counts_of({&stats.core, &stats.router});
  counts.sram_bytes = stats.sram_read_bytes + stats.sram_write_bytes;
  counts.fabric_bytes = stats.router.hops.value() * 4;
  return counts;
}

CountsSoFar wafer_counts(const wse::WaferStats& stats) {
  CountsSoFar counts = counts_of({&stats.core, &stats.router, &stats.edge});
  counts.sram_bytes = stats.sram_read_bytes + stats.sram_write_bytes;
  counts.fabric_bytes = stats.router.hops.value() * 4;
  counts.io_bytes = stats.edge.bits.value() / 8;
  return counts;
}

Peaks core_peaks(const WseParams& params, unsigned simd, std::uint64_t units) {
  const auto cores = static_cast<double>(units);
  const wse::SimdParams& width = params.simd;
  const unsigned widest = std::max(
      {4U, width.fma16.value(), width.fma16_32.value(), width.fma32.value(), width.int8.value(),
       width.add32.value(), width.max16.value(), width.max32.value(), width.convert.value()});
  const wse::MemoryPorts ports = params.mem.ports();
  Peaks peaks;
  peaks.flop_per_cycle = 2.0 * simd * cores;
  peaks.sram_bytes_per_cycle =
      cores * (ports.read_bits + ports.write_bits) / 8.0 / static_cast<double>(ports.port_cycles);
  if (ports.model == wse::MemoryModel::none) peaks.sram_bytes_per_cycle = 16.0 * widest * cores;
  peaks.fabric_bytes_per_cycle = 4 * 4.0 * cores;
  return peaks;
}

std::vector<DeclaredStatistic> wafer_statistics() {
  const wse::WaferStats streams;
  const wse::UnfilteredStats unfiltered;
  const wse::ReceiverFilterStats filter;
  const wse::TaskStats tasks;
  const KernelStats kernel;
  return declared({&streams.core, &streams.router, &streams.edge, &streams.limits, &unfiltered,
                   &filter, &tasks.core, &tasks.router, &kernel});
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/counts.hpp"

#include <algorithm>
#include <initializer_list>

#include "sim/machines/wse/params.hpp"

namespace lacuna {
namespace {

CountsSoFar counts_of_groups(std::initializer_list<const StatGroup*> groups) {
  CountsSoFar counts;
  for (const StatGroup* group : groups) {
    group->add_to(counts.statistics);
    group->add_to(counts.stack);
  }
  return counts;
}

}  // namespace

CountsSoFar task_counts(const wse::TaskStats& stats) {
  CountsSoFar counts = counts_of_groups({&stats.core, &stats.router});
  counts.sram_bytes = stats.sram_read_bytes + stats.sram_write_bytes;
  counts.fabric_bytes = stats.router.hops.value() * 4;
  return counts;
}

CountsSoFar wafer_counts(const wse::WaferStats& stats) {
  CountsSoFar counts = counts_of_groups({&stats.core, &stats.router, &stats.edge});
  counts.sram_bytes = stats.sram_read_bytes + stats.sram_write_bytes;
  counts.fabric_bytes = stats.router.hops.value() * 4;
  counts.io_bytes = stats.edge.bits.value() / 8;
  return counts;
}

PhaseTraffic whole_phase(const std::string& name, const OpResult& result) {
  return {name, result.cycles, result.sram_read_bytes + result.sram_write_bytes,
          result.fabric_bytes, result.io_bytes};
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

}  // namespace lacuna

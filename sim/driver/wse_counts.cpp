// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/wse_counts.hpp"

#include <initializer_list>

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

}  // namespace lacuna

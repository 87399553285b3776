// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/known_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/run/experiment.hpp"

namespace lacuna {

std::string layout_key(const Machine& machine, const ClimbEffort& effort, const std::string& what) {
  return fmt::format("{}\n{}{} {}\n{}", machine.kind(), settings_text(machine.parameters()),
                     effort.budget, effort.patience, what);
}

std::string known_layouts(const std::vector<Point>& points, const Runs& records) {
  PartCache cache = open_part_cache(false);
  std::string lines;
  for (const RunRecord& record : records) {
    const Point& point = points.at(record.run);
    // on a wafer the rule is near the best, and masks take their time
    if (!cache.is_open() || point.machine->kind() != std::string("ipu")) continue;
    WorkloadTrace workload = point.workload;
    const std::uint64_t seed = point.settings ? point.settings->seed : 1;
    MaskStore masks(seed);
    const MaskOf mask_of = [&](const LayerOp& op) { return masks.mask(op, workload); };
    point.machine->relate(workload, mask_of, seed);
    for (std::size_t i = 0; i < std::min(workload.ops.size(), record.ops.size()); ++i) {
      const LayerOp& op = workload.ops[i];
      const auto kept =
          cache.find(kLayoutKind,
                     layout_key(*point.machine, {}, operation_content(op, mask_of(op), seed, {})));
      const auto found = kept ? decode_found(*kept) : std::nullopt;
      const Cycle cycles = record.ops[i].result.cycles;
      if (!found || found->cycles >= cycles) continue;
      lines += fmt::format(
          "lacuna: {}: {} takes {} cycles in the best layout known, {:.4g} times as fast (--layout "
          "best)\n",
          record.machine, op.id, found->cycles,
          static_cast<double>(cycles) / static_cast<double>(found->cycles));
    }
  }
  return lines;
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/table_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/layers.hpp"

namespace lacuna {

std::string stack_table(const RunRecord& record) {
  const std::vector<StackPart> stack = record.stack();
  std::uint64_t total = 0;
  for (const StackPart& part : stack) total += part.cycles;
  if (total == 0) return "";
  Cycle cycles = 0;
  for (const OpRecord& op : record.ops) cycles += op.result.cycles;
  std::string text = fmt::format("{} cycles on {} {}, engine {}\n\n", cycles, record.units(),
                                 record.extent.substr(record.extent.rfind(' ') + 1), record.engine);
  std::size_t kind_width = 8;
  for (const StackPart& part : stack) kind_width = std::max(kind_width, part.kind.size());
  const std::size_t number_width = std::max<std::size_t>(10, fmt::format("{}", total).size());
  for (const Layer layer : kLayers) {
    std::string name = layer_name(layer);
    for (const StackPart& part : stack) {
      if (part.layer != layer || part.cycles == 0) continue;
      const double share = static_cast<double>(part.cycles) / static_cast<double>(total);
      text += fmt::format("  {:<10} {:<{}} {:>{}}  {:>5.1f} %\n", name, part.kind, kind_width,
                          part.cycles, number_width, 100 * share);
      name.clear();  // once for each layer
    }
  }
  return text + fmt::format("  {:<10} {:<{}} {:>{}}  100.0 %\n", "total", "", kind_width, total,
                            number_width);
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/off_chip.hpp"

#include <filesystem>

#include "sim/driver/files/config_table.hpp"
#include "sim/driver/files/locations.hpp"

namespace lacuna {

std::vector<OffChip> read_off_chip() {
  const std::filesystem::path file = config_folder() / "off_chip.csv";
  std::vector<OffChip> rows;
  if (!std::filesystem::exists(file)) return rows;
  const ConfigTable table(file, {"name", "kind", "gbps", "fp16_tflops", "what", "source"});
  for (std::size_t row = 0; row < table.size(); ++row) {
    rows.push_back({table.text(row, "name"), table.text(row, "kind"), table.number(row, "gbps"),
                    std::nullopt, table.text(row, "what"), table.text(row, "source")});
    if (!table.text(row, "fp16_tflops").empty()) {
      rows.back().fp16_tflops = table.number(row, "fp16_tflops");
    }
  }
  return rows;
}

std::vector<ReferenceMemory> reference_memories(const std::vector<OffChip>& rows) {
  std::vector<ReferenceMemory> references;
  for (const OffChip& row : rows) {
    if (row.kind != "reference" || !row.fp16_tflops) continue;
    references.push_back({row.what, row.gbps / (*row.fp16_tflops * 1e3)});
  }
  return references;
}

}  // namespace lacuna

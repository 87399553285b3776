// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/off_chip.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "sim/base/error.hpp"
#include "sim/driver/files/locations.hpp"
#include "workloads/trace/csv_lines.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
constexpr std::array<const char*, 6> kColumns{"name",        "kind", "gbps",
                                              "fp16_tflops", "what", "source"};

/// Reads the cells of a line, in the order of kColumns.
class Row {
 public:
  Row(const std::string& file, const CsvLine& line) : file_(file), line_(line) {
    if (line.cells.size() == kColumns.size()) return;
    throw RequestError(fmt::format("{}:{}: found {} cells; allowed: the {} of {}", file,
                                   line.number, line.cells.size(), kColumns.size(),
                                   fmt::join(kColumns, ",")));
  }

  const std::string& text(std::size_t column) const { return line_.cells[column].text; }

  double number(std::size_t column) const {
    const CsvCell& cell = line_.cells[column];
    const char* const end = cell.text.data() + cell.text.size();
    double value = 0;
    const auto [read_to, error] = std::from_chars(cell.text.data(), end, value);
    if (error == std::errc{} && read_to == end && value > 0) return value;
    throw RequestError(fmt::format("{}:{}:{}: {} = '{}'; allowed: a number above 0", file_,
                                   line_.number, cell.column, kColumns.at(column), cell.text));
  }

 private:
  const std::string& file_;
  const CsvLine& line_;
};

OffChip parse(const Row& row) {
  OffChip parsed{row.text(0), row.text(1), row.number(2), std::nullopt, row.text(4), row.text(5)};
  if (!row.text(3).empty()) parsed.fp16_tflops = row.number(3);
  return parsed;
}

}  // namespace

std::vector<OffChip> read_off_chip() {
  const std::string file = (config_folder() / "off_chip.csv").string();
  std::vector<OffChip> rows;
  if (!std::filesystem::exists(file)) return rows;
  CsvLines lines(read_text(file, kLargestFile));
  bool head = true;
  for (CsvLine line; lines.next(line);) {
    if (line.kind != CsvLine::Kind::cells) continue;
    const Row row(file, line);
    if (!head) rows.push_back(parse(row));
    head = false;
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

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "sim/base/error.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/matrix/npy_reader.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// The columns of X for `name` from lines "name,N".
std::uint32_t columns_from(const std::string& path, const std::string& name) {
  CsvLines lines(read_text_file(path));
  CsvLine line;
  std::map<std::string, std::uint32_t> found;
  while (lines.next(line)) {
    if (line.kind != CsvLine::Kind::cells) continue;
    std::uint64_t n = 0;
    constexpr std::uint64_t kMost = 0x7fffffff;
    if (line.cells.size() != 2 ||
        parse_integer(line.cells[1].text, 1, kMost, n) != IntegerError::none) {
      throw_problem({place(path, line.number, 1), "E202", "", line.cells[0].text,
                     "lines NAME,N with a whole number", ""});
    }
    found[line.cells[0].text] = static_cast<std::uint32_t>(n);
  }
  // The name of a mask file ends in that of its layer.
  const std::string* best = nullptr;
  for (const auto& [layer, n] : found) {
    const bool ends = name.size() >= layer.size() &&
                      name.compare(name.size() - layer.size(), layer.size(), layer) == 0;
    if (ends && (best == nullptr || layer.size() > best->size())) best = &layer;
  }
  if (best != nullptr) return found.at(*best);
  throw RequestError(fmt::format("{}: has no line for '{}'; give --n instead", path, name));
}

std::uint32_t columns_of(const ImportFile& file, const ImportContext& context) {
  if (const std::string* sizes = context.settings().text("batch-sizes")) {
    return columns_from(*sizes, file.stem());
  }
  if (context.settings().text("n") == nullptr) {
    throw RequestError(fmt::format(
        "{}: holds weights, and not how many columns they are multiplied with; give --n",
        file.path));
  }
  return context.settings().required("n", 1, "columns of X");
}

}  // namespace

void import_matrix(const ImportFile& file, ImportContext& context) {
  const PatternFile pattern = read_pattern_file(file.path);
  if (pattern.mask.rows == 0 || pattern.mask.cols == 0) {
    throw_problem({place(file.path, 1, 1), "E203", "",
                   fmt::format("a matrix of {} x {}", pattern.mask.rows, pattern.mask.cols),
                   "at least one row and one column", ""});
  }
  LayerOp& row = context.add(file.stem(), "gemm");
  row.m = pattern.mask.rows;
  row.k = pattern.mask.cols;
  row.n = columns_of(file, context);
  row.pattern.name = "file";
  row.pattern.file = file.path;
  row.depends_on.clear();
  if (pattern.explicit_zeros != 0) {
    context.result.notes.push_back(
        fmt::format("{}: {} stored zeros are kept", row.id, pattern.explicit_zeros));
  }
}

void import_npy(const ImportFile& file, ImportContext& context) {
  const std::string* member = context.settings().text("member");
  const std::string name = member == nullptr ? file.path : file.path + ":" + *member;
  const NpyMatrix weights = parse_npy(file.text, file.path, member == nullptr ? "" : *member);
  PatternSpec pattern = context.settings().pattern();
  if (!pattern.density ||
      (pattern.name != "magnitude" && pattern.name != "unstructured" && pattern.name != "block")) {
    throw RequestError(fmt::format(
        "{}: holds weights, and not how many are kept; give --density, or --pattern magnitude:D "
        "with a block",
        file.path));
  }
  pattern.name = "magnitude";
  pattern.args.insert(pattern.args.begin(), {"field", "file:" + name});
  LayerOp& row = context.add(file.stem(), "gemm");
  row.m = weights.rows;
  row.k = weights.cols;
  row.n = columns_of(file, context);
  row.pattern = std::move(pattern);
  row.depends_on.clear();
  context.result.notes.push_back(
      fmt::format("{}: the largest of given weights are kept, {} x {}", row.id, row.m, row.k));
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <optional>

#include "sim/base/error.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/matrix/zero_structure.hpp"
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

std::optional<PatternSpec> pruning_of(const ImportContext& context, const std::string& path) {
  PatternSpec pattern = context.settings().pattern();
  bool prunes = false;
  context.settings().flag("prune", prunes);
  if (!prunes) {
    if (pattern.name == "dense" && !pattern.density) return std::nullopt;
    throw RequestError(fmt::format(
        "{}: has zeros of its own, and --density or --pattern would leave out others; allowed: "
        "neither, or --prune beside them, which keeps the largest weights",
        path));
  }
  const bool has =
      pattern.name == "magnitude" || pattern.name == "unstructured" || pattern.name == "block";
  if (!pattern.density || !has) {
    throw RequestError("--prune: needs --density, or --pattern magnitude:D with a block");
  }
  pattern.name = "magnitude";
  return pattern;
}

std::string name_of_array(const std::string& path, const std::string& member) {
  if (member.empty()) return path;
  std::string name = path + ":" + member;
  if (split_array_name(name).file == path) return name;
  throw RequestError(fmt::format(
      "{}: holds several arrays, and its name does not say what it is; allowed: a link to it whose "
      "name ends in .npz or .safetensors",
      path));
}

PatternSpec given_pattern(const std::string& name, const Mask& mask,
                          const std::optional<PatternSpec>& pruning, const std::string& row,
                          ImportContext& context) {
  PatternSpec pattern;
  if (pruning) {
    pattern = *pruning;
    pattern.args.insert(pattern.args.begin(), {"field", "file:" + name});
    context.result.notes.push_back(fmt::format("{}: the largest of given weights are kept", row));
    return pattern;
  }
  const ZeroStructure zeros = find_zero_structure(mask);
  context.result.notes.push_back(fmt::format("{}: {}", row, structure_text(zeros)));
  if (zeros.nnz == std::uint64_t{mask.rows} * mask.cols) return pattern;
  pattern.name = "file";
  pattern.file = name;
  if (zeros.whole_block == 1) return pattern;
  pattern.block_rows = pattern.block_cols = zeros.whole_block;
  pattern.args = {{"unit", "element"}};
  return pattern;
}

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

void import_arrays(const ImportFile& file, ImportContext& context) {
  const std::optional<PatternSpec> pruning = pruning_of(context, file.path);
  const std::string* const asked = context.settings().text("member");
  const ArrayName named = split_array_name(file.path);
  PartFile bytes = file.text.empty() ? PartFile(named.file) : PartFile(file.text, named.file);
  const std::string member = asked == nullptr ? named.member : *asked;
  std::vector<ArrayEntry> matrices;
  if (member.empty() && holds_tensors(bytes)) {
    matrices = matrices_of(bytes);
  } else {
    matrices = {sides_of_array(bytes, member)};
  }
  for (const ArrayEntry& entry : matrices) {
    const bool alone = matrices.size() == 1;
    LayerOp& row = context.add(alone ? file.stem() : entry.member, "gemm");
    row.m = ImportContext::side(entry.rows, entry.member, "m");
    row.k = ImportContext::side(entry.cols, entry.member, "k");
    row.n = columns_of(file, context);
    row.depends_on.clear();
    const Mask mask = read_array(bytes, entry.member).mask;
    row.pattern =
        given_pattern(name_of_array(named.file, entry.member), mask, pruning, row.id, context);
  }
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/matrix/zero_structure.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// The columns of X for `name` from lines "name,N".
std::uint32_t columns_from(const std::string& path, const std::string& name) {
  CsvLines lines(read_text_file(path));
  CsvLine line;
  // the name of a mask file ends in that of its layer
  std::string best;
  std::uint64_t columns = 0;
  while (lines.next_cells(line)) {
    const auto n =
        line.cells.size() != 2 ? std::nullopt : parse_integer(line.cells[1].text, 1, kMostSide);
    if (!n) {
      throw_diagnostic(place(path, line.number), "E202", line.cells[0].text,
                       "lines NAME,N with a whole number");
    }
    const std::string& layer = line.cells[0].text;
    if (!ends_with("." + name, layer) || layer.size() < best.size()) continue;
    best = layer;
    columns = *n;
  }
  if (columns != 0) return static_cast<std::uint32_t>(columns);
  refuse_request("{}: has no line for '{}'; give --n instead", path, name);
}

std::uint32_t columns_of(const ImportFile& file, const ImportContext& context) {
  if (const std::string* sizes = context.settings.text("batch-sizes")) {
    return columns_from(*sizes, file.stem());
  }
  if (context.settings.text("n") == nullptr) {
    refuse_request("{}: holds weights, and not how many columns they are multiplied with; give --n",
                   file.path);
  }
  return context.settings.required("n", 1, "columns of X");
}

}  // namespace

std::optional<PatternSpec> pruning_of(const ImportContext& context, const std::string& path) {
  PatternSpec pattern = context.settings.pattern();
  bool prunes = false;
  context.settings.flag("prune", prunes);
  if (!prunes) {
    if (pattern.name == "dense" && !pattern.density) return std::nullopt;
    refuse_request(
        "{}: has zeros of its own, and --density or --pattern would leave out others; allowed: "
        "neither, or --prune beside them, which keeps the largest weights",
        path);
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
  refuse_request(
      "{}: holds several arrays, and its name does not say what it is; allowed: a link to it whose "
      "name ends in .npz or .safetensors",
      path);
}

PatternSpec given_pattern(const std::string& name, const Mask& mask,
                          const std::optional<PatternSpec>& pruning, const std::string& row,
                          ImportContext& context) {
  PatternSpec pattern;
  if (pruning) {
    pattern = *pruning;
    pattern.args.insert(pattern.args.begin(), {"field", "file:" + name});
    context.note("{}: the largest of given weights are kept", row);
    return pattern;
  }
  const ZeroStructure zeros = find_zero_structure(mask);
  context.note("{}: {}", row, structure_text(zeros));
  if (zeros.nnz == std::uint64_t{mask.rows} * mask.cols) return pattern;
  pattern.name = "file";
  pattern.file = name;
  if (zeros.whole_block == 1) return pattern;
  pattern.block_rows = pattern.block_cols = zeros.whole_block;
  pattern.args = {{"unit", "element"}};
  return pattern;
}

namespace {

/// A row for weights or a mask, "FILE:MEMBER".
void add_matrix(const std::string& id, const std::string& name, const Mask& mask,
                const ImportFile& file, ImportContext& context) {
  LayerOp& row = context.add(id, "gemm");
  row.m = mask.rows;
  row.k = mask.cols;
  row.n = columns_of(file, context);
  row.depends_on.clear();
  row.pattern = given_pattern(name, mask, pruning_of(context, file.path), row.id, context);
}

/// Numbers that go with quantised weights, and are none.
bool is_of_scales(const std::string& name) {
  static const std::set<std::string> kNames = {"weight_scale", "weight_scale_inv", "weight_scale_2",
                                               "scales", "g_idx"};
  return kNames.count(name.substr(name.rfind('.') + 1)) != 0;
}

}  // namespace

void import_matrix(const ImportFile& file, ImportContext& context) {
  const ArrayName named = split_array_name(file.path);
  const auto arrays = ArrayFile::open(named.file);
  if (!arrays) {
    const PatternFile pattern = read_pattern_file(file.path);
    add_matrix(file.stem(), file.path, pattern.mask, file, context);
    if (pattern.explicit_zeros != 0) {
      context.note("{}: {} stored zeros are kept", context.result.trace.ops.back().id,
                   pattern.explicit_zeros);
    }
    return;
  }
  const std::string* const asked = context.settings.text("member");
  const std::string member = asked == nullptr ? named.member : *asked;
  const bool all = member.empty() && arrays->holds_tensors();
  std::vector<ArrayEntry> entries;
  if (!all) entries = {{member, 0, 0}};
  for (ArrayEntry& entry : all ? arrays->matrices() : std::vector<ArrayEntry>()) {
    if (is_of_scales(entry.member)) {
      context.note("{} is left out: scales of other weights", entry.member);
    } else {
      entries.push_back(std::move(entry));
    }
  }
  for (const ArrayEntry& entry : entries) {
    add_matrix(entries.size() == 1 ? file.stem() : entry.member,
               name_of_array(named.file, entry.member), arrays->mask(entry.member), file, context);
  }
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/token_reader.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

/// Whether a configuration leaves the N:M of a topology in force: all of its [sparsity] section
/// that matters here.
bool supports_sparsity(const std::string* path) {
  if (path == nullptr) return true;
  constexpr std::array known = {"SparsitySupport", "SparseRep", "OptimizedMapping", "BlockSize",
                                "RandomNumberGeneratorSeed"};
  bool support = false;
  bool inside = false;
  const std::string text = read_text_file(*path);
  TokenReader lines(text, *path);
  while (lines.next_line()) {
    const std::string_view line = trimmed(lines.line());
    if (!line.empty() && line.front() == '[') inside = line == "[sparsity]";
    const std::size_t mark = line.find_first_of(":=");
    if (!inside || mark == std::string_view::npos) continue;
    const std::string key(trimmed(line.substr(0, mark)));
    const std::string_view value = trimmed(line.substr(mark + 1));
    if (!contains(known, key)) {
      throw_diagnostic(place(*path, lines.line_number()), "E207", key, listed(known));
    }
    const bool yes = value == "true" || value == "True";
    if (key == "SparsitySupport") support = yes;
    if (key == "OptimizedMapping" && yes && support) {
      refuse_request(
          "{}:{}: OptimizedMapping draws another N for each filter with numpy's generator, which "
          "is not read; set it to false to keep the N:M of the topology, or import masks as .smtx",
          *path, lines.line_number());
    }
  }
  return support;
}

/// What stands in a column behind those that every topology has; its header says it. A column
/// without a name has a sparsity N:M, as version 3 of the tool takes it, or the stride across, as
/// version 2 takes a number there.
std::string further_of(const std::string& header, const std::string& text) {
  const std::string name = lower_case(header);
  if (name.empty()) return text.find(':') == std::string::npos ? "stride" : "spars";
  if (name.find("spars") != std::string::npos) return "spars";
  for (const char* word : {"batch", "stride"}) {
    if (starts_with(name, word)) return word;
  }
  return name;
}

/// A row of a topology: cells up to the last that is not empty.
struct TopologyRow {
  const std::string& path;
  const CsvLine& line;
  std::map<std::string, const CsvCell*> further;  // by further_of() their column

  const std::string& name() const { return line.cells[0].text; }
  std::string where(std::size_t column = 1) const { return place(path, line.number, column); }

  std::uint64_t size(const CsvCell& cell, const char* column) const {
    return read_integer(where(cell.column), column, cell.text);
  }
  std::uint64_t size(std::size_t index, const char* column) const {
    return size(line.cells[index], column);
  }

  const CsvCell* find(const char* which) const {
    const auto* const cell = value_in(further, which);
    return cell == nullptr ? nullptr : *cell;
  }
  std::uint64_t size_or(const char* which, const char* column, std::uint64_t otherwise) const {
    const CsvCell* const cell = find(which);
    return cell == nullptr ? otherwise : size(*cell, column);
  }
};

/// A kind of topology: how many columns each has, and those that may stand behind them.
struct TopologyKind {
  std::size_t columns;
  std::vector<std::string> further;
  const char* names;
};

/// Takes the further cells of a row. Each is of a column that is read, and of each there is one.
void take_further(const TopologyKind& kind, const std::vector<std::string>& header,
                  TopologyRow& row) {
  for (std::size_t i = kind.columns; i < row.line.cells.size(); ++i) {
    const CsvCell& cell = row.line.cells[i];
    if (cell.text.empty()) continue;
    const std::string column = i < header.size() ? header[i] : "";
    const std::string which = further_of(column, cell.text);
    if (contains(kind.further, which) && row.further.emplace(which, &cell).second) continue;
    throw_diagnostic(
        {row.where(cell.column), "E004", column, cell.text,
         fmt::format("empty, as it is none of {} columns, nor of {}", kind.columns, kind.names)});
  }
}

/// Walks the rows of a topology. Cells that pad a line are not there, a line of nothing else is
/// blank, and a name alone is the title of what follows.
void for_each_row(const ImportFile& file, const TopologyKind& kind, ImportContext& context,
                  const std::function<void(const TopologyRow& row)>& take) {
  CsvLines lines(file.text, separator_of(file.text));
  CsvLine line;
  std::vector<std::string> header;
  while (lines.next_cells(line)) {
    if (line.open_quote != 0) {
      throw_diagnostic(place(file.path, line.number, line.open_quote), "E003", "an open quote",
                       "a closed one");
    }
    if (header.empty()) {
      for (const CsvCell& cell : line.cells) header.push_back(cell.text);
      if (lower_case(header.front()).find("layer") == std::string::npos) {
        context.warn(
            "{}:{}: the first line is taken for a header, but does not begin with 'Layer'; if it "
            "is a layer, it is lost",
            file.path, line.number);
      }
      continue;
    }
    while (!line.cells.empty() && line.cells.back().text.empty()) line.cells.pop_back();
    if (line.cells.empty()) continue;
    TopologyRow row{file.path, line, {}};
    if (line.cells.size() == 1) {
      context.warn("{}:{}: '{}' has no sizes: taken for the title of what follows", file.path,
                   line.number, quotable(row.name()));
      continue;
    }
    if (line.cells.size() < kind.columns) {
      throw_diagnostic(
          row.where(), "E004", fmt::format("{} cells", line.cells.size()),
          fmt::format("{} cells, or more with a header that names them", kind.columns));
    }
    take_further(kind, header, row);
    take(row);
  }
  if (context.result.trace.ops.empty()) {
    throw_diagnostic(place(file.path), "E001", "no row after the header", "a row");
  }
}

void set_sparsity(const TopologyRow& row, bool supported, LayerOp& op) {
  const CsvCell* const cell = row.find("spars");
  if (cell == nullptr || !supported) return;
  op.pattern = first_of_group(cell->text, row.where(cell->column), "Sparsity");
}

/// Outputs that a topology says beside what they follow from are those that follow.
void check_outputs(const TopologyRow& row, const char* which, std::uint64_t made,
                   const char* column) {
  if (row.size_or(which, column, made) == made) return;
  const CsvCell& cell = *row.find(which);
  throw_diagnostic({row.where(cell.column), "E214", column, cell.text,
                    fmt::format("{}, which follows from the layer's sizes", made)});
}

Convolution convolution_of(const TopologyRow& row) {
  Convolution made;
  made.inputs = {row.size(1, "IFMAP Height"), row.size(2, "IFMAP Width")};
  made.kernel = {row.size(3, "Filter Height"), row.size(4, "Filter Width")};
  const std::uint64_t channels = row.size(5, "Channels");
  made.filters = row.size(6, "Num Filter");
  const std::uint64_t stride = row.size(7, "Strides");
  const std::array steps = {stride, row.size_or("stride", "Stride Width", stride)};
  made.images = row.size_or("batch", "Batch Size", 1);
  const bool depthwise = row.name().find("DP") != std::string::npos;
  (depthwise ? made.groups : made.channels) = channels;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (made.kernel[i] > made.inputs[i]) {
      throw_diagnostic(
          {row.where(row.line.cells[3].column), "E214", "Filter Height",
           fmt::format("a filter of {}", fmt::join(made.kernel, " x ")),
           fmt::format("one that fits {}, as there is no padding", fmt::join(made.inputs, " x "))});
    }
    made.outputs.push_back((made.inputs[i] - made.kernel[i] + 2 * steps.at(i) - 1) / steps.at(i));
  }
  check_outputs(row, "eh", made.outputs[0], "Eh");
  check_outputs(row, "ew", made.outputs[1], "Ew");
  check_outputs(row, "e2", made.outputs[0] * made.outputs[1], "e2");
  return made;
}

}  // namespace

void import_scalesim_gemm(const ImportFile& file, ImportContext& context) {
  const bool sparsity = supports_sparsity(context.settings.text("scalesim-config"));
  const TopologyKind kind{4, {"spars", "batch"}, "Sparsity, Batch Size"};
  for_each_row(file, kind, context, [&](const TopologyRow& from) {
    // Its filter is the right operand, so its M and N change places.
    LayerOp& row = context.add(from.name(), "gemm");
    row.n = ImportContext::side({from.size(1, "M"), from.size_or("batch", "Batch Size", 1)},
                                from.where(), "n");
    row.m = ImportContext::side({from.size(2, "N")}, from.where(), "m");
    row.k = ImportContext::side({from.size(3, "K")}, from.where(), "k");
    set_sparsity(from, sparsity, row);
  });
}

void import_scalesim_conv(const ImportFile& file, ImportContext& context) {
  const bool sparsity = supports_sparsity(context.settings.text("scalesim-config"));
  const TopologyKind kind{8,
                          {"spars", "batch", "stride", "eh", "ew", "e2"},
                          "Sparsity, Batch Size, Stride Width, Eh, Ew, e2"};
  for_each_row(file, kind, context, [&](const TopologyRow& from) {
    const Convolution convolution = convolution_of(from);
    LayerOp& row = context.add(from.name(), "gemm");
    set_convolution(convolution, from.where(), row);
    set_sparsity(from, sparsity, row);
  });
}

}  // namespace lacuna

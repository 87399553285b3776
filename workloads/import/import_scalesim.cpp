// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

bool says_layer(const std::string& text) {
  return lower_case(text).find("layer") != std::string::npos;
}

/// The [sparsity] section of a configuration, of which only the support matters here.
struct SparsitySection {
  bool given = false;
  bool support = false;
};

SparsitySection read_section(const std::string* path) {
  SparsitySection section;
  if (path == nullptr) return section;
  section.given = true;
  const std::string text = read_text_file(*path);
  bool inside = false;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line(trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line.front() == '[') inside = line == "[sparsity]";
    const std::size_t mark = line.find_first_of(":=");
    if (!inside || mark == std::string::npos) continue;
    const std::string key(trimmed(std::string_view(line).substr(0, mark)));
    const std::string value(trimmed(std::string_view(line).substr(mark + 1)));
    const std::array<const char*, 5> known = {"SparsitySupport", "SparseRep", "OptimizedMapping",
                                              "BlockSize", "RandomNumberGeneratorSeed"};
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw_problem({place(*path, number, 1), "E207", "", key,
                     fmt::format("{}", fmt::join(known, ", ")), ""});
    }
    const bool yes = value == "true" || value == "True";
    if (key == "SparsitySupport") section.support = yes;
    if (key == "OptimizedMapping" && yes && section.support) {
      throw RequestError(fmt::format(
          "{}:{}: OptimizedMapping draws another N for each filter with numpy's generator, which "
          "is not read; set it to false to keep the N:M of the topology, or import masks as .smtx",
          *path, number));
    }
  }
  return section;
}

/// What stands in a column behind those that every topology has; its header says it.
enum class Further { sparsity, batch, stride_across, out_height, out_width, outputs, unknown };

/// A column without a name has a sparsity N:M, as version 3 of the tool takes it, or the stride
/// across, as version 2 takes a number there.
Further further_of(const std::string& header, const std::string& text) {
  const std::string name = lower_case(header);
  if (name.empty() && text.find(':') == std::string::npos) return Further::stride_across;
  if (name.empty() || name.find("spars") != std::string::npos) return Further::sparsity;
  if (name.rfind("batch", 0) == 0) return Further::batch;
  if (name.rfind("stride", 0) == 0) return Further::stride_across;
  if (name == "eh") return Further::out_height;
  if (name == "ew") return Further::out_width;
  if (name == "e2") return Further::outputs;
  return Further::unknown;
}

/// A row of a topology with its header: cells up to the last that is not empty.
struct TopologyRow {
  const ImportFile& file;
  const CsvLine& line;
  const std::vector<std::string>& header;
  std::size_t least;  // columns that every topology of its kind has

  /// The cell of a further column, or null if it is empty or not there.
  const CsvCell* further(Further which) const {
    for (std::size_t i = least; i < line.cells.size(); ++i) {
      if (!line.cells[i].text.empty() && further_of(name(i), line.cells[i].text) == which)
        return &line.cells[i];
    }
    return nullptr;
  }

  std::string name(std::size_t column) const {
    return column < header.size() ? header[column] : "";
  }
};

/// Every cell of a row is of a column that is read, and of each there is one.
void check_further(const TopologyRow& row, const std::vector<Further>& taken) {
  std::vector<Further> seen;
  for (std::size_t i = row.least; i < row.line.cells.size(); ++i) {
    const CsvCell& cell = row.line.cells[i];
    if (cell.text.empty()) continue;
    const Further which = further_of(row.name(i), cell.text);
    const bool known = std::find(taken.begin(), taken.end(), which) != taken.end();
    const bool first = std::find(seen.begin(), seen.end(), which) == seen.end();
    if (known && first) {
      seen.push_back(which);
      continue;
    }
    throw_problem({place(row.file.path, row.line.number, cell.column), "E004", row.name(i),
                   cell.text,
                   fmt::format("empty, as it is none of {} columns, nor of Sparsity, Batch Size{}",
                               row.least, taken.size() > 2 ? ", Stride Width, Eh, Ew, e2" : ""),
                   ""});
  }
}

using RowTaker = std::function<void(const TopologyRow& row)>;

/// Walks the rows of a topology. Cells that pad a line are not there, a line of nothing else is
/// blank, and a name alone is the title of what follows.
void for_each_row(const ImportFile& file, std::size_t least, const std::vector<Further>& taken,
                  ImportContext& context, const RowTaker& take) {
  CsvLines lines(file.text, separator_of(file.text));
  CsvLine line;
  bool is_first = true;
  std::vector<std::string> header;
  std::vector<std::string>& warnings = context.result.warnings;
  while (lines.next(line)) {
    if (line.kind != CsvLine::Kind::cells) continue;
    if (line.open_quote != 0) {
      throw_problem({place(file.path, line.number, line.open_quote), "E003", "", "an open quote",
                     "a closed one", ""});
    }
    if (std::exchange(is_first, false)) {
      for (const CsvCell& cell : line.cells) header.push_back(cell.text);
      if (!says_layer(line.cells.front().text)) {
        warnings.push_back(
            fmt::format("{}:{}: the first line is taken for a header, but does not begin with "
                        "'Layer'; if it is a layer, it is lost",
                        file.path, line.number));
      }
      continue;
    }
    while (!line.cells.empty() && line.cells.back().text.empty()) line.cells.pop_back();
    if (line.cells.empty()) continue;
    if (line.cells.size() == 1) {
      warnings.push_back(
          fmt::format("{}:{}: '{}' has no sizes: taken for the title of what follows", file.path,
                      line.number, quotable(line.cells[0].text)));
      continue;
    }
    if (line.cells.size() < least) {
      throw_problem({place(file.path, line.number, 1), "E004", "",
                     fmt::format("{} cells", line.cells.size()),
                     fmt::format("{} cells, or more with a header that names them", least), ""});
    }
    const TopologyRow row{file, line, header, least};
    check_further(row, taken);
    take(row);
  }
  if (context.result.trace.ops.empty()) {
    throw_problem({place(file.path, 1, 1), "E001", "", "no row after the header", "a row", ""});
  }
}

std::uint32_t count_in(const TopologyRow& row, const CsvCell& cell, const std::string& name) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  std::uint64_t value = 0;
  const IntegerError error = parse_integer(cell.text, 1, kMost, value);
  if (error == IntegerError::none) return static_cast<std::uint32_t>(value);
  throw_problem({place(row.file.path, row.line.number, cell.column),
                 error == IntegerError::not_an_integer ? "E202" : "E203", name, cell.text,
                 fmt::format("an integer in [1, {}]", kMost), ""});
}

std::uint32_t cell(const TopologyRow& row, std::size_t index, const char* name) {
  return count_in(row, row.line.cells[index], name);
}

std::string where(const TopologyRow& row) { return place(row.file.path, row.line.number, 1); }

void set_sparsity(const TopologyRow& row, const SparsitySection& section, LayerOp& op) {
  const CsvCell* const text = row.further(Further::sparsity);
  if (text == nullptr || (section.given && !section.support)) return;
  op.pattern =
      first_of_group(text->text, place(row.file.path, row.line.number, text->column), "Sparsity");
}

/// Inputs that share the filters; 1 where the topology does not say.
std::uint64_t batch_of(const TopologyRow& row) {
  const CsvCell* const text = row.further(Further::batch);
  return text == nullptr ? 1 : count_in(row, *text, "Batch Size");
}

/// Outputs that a topology says beside what they follow from are those that follow.
void check_outputs(const TopologyRow& row, Further which, std::uint64_t made, const char* name) {
  const CsvCell* const text = row.further(which);
  if (text == nullptr || count_in(row, *text, name) == made) return;
  throw_problem({place(row.file.path, row.line.number, text->column), "E214", name, text->text,
                 fmt::format("{}, which follows from the layer's sizes", made), ""});
}

/// The convolution of a row of eight columns, as the product of its filter and unrolled images.
void add_convolution(const TopologyRow& from, const ImportFile& file, ImportContext& context,
                     const SparsitySection& section) {
  const CsvLine& line = from.line;
  const std::uint64_t in_h = cell(from, 1, "IFMAP Height");
  const std::uint64_t in_w = cell(from, 2, "IFMAP Width");
  const std::uint64_t filter_h = cell(from, 3, "Filter Height");
  const std::uint64_t filter_w = cell(from, 4, "Filter Width");
  const std::uint64_t channels = cell(from, 5, "Channels");
  const std::uint64_t stride = cell(from, 7, "Strides");
  const CsvCell* const across = from.further(Further::stride_across);
  const std::uint64_t stride_w =
      across == nullptr ? stride : count_in(from, *across, "Stride Width");
  if (filter_h > in_h || filter_w > in_w) {
    throw_problem({place(file.path, line.number, line.cells[3].column), "E214", "Filter Height",
                   fmt::format("a filter of {} x {}", filter_h, filter_w),
                   fmt::format("one that fits {} x {}, as there is no padding", in_h, in_w), ""});
  }
  const auto out = [](std::uint64_t in, std::uint64_t filter, std::uint64_t step) {
    return (in - filter + step + step - 1) / step;
  };
  const std::uint64_t out_h = out(in_h, filter_h, stride);
  const std::uint64_t out_w = out(in_w, filter_w, stride_w);
  check_outputs(from, Further::out_height, out_h, "Eh");
  check_outputs(from, Further::out_width, out_w, "Ew");
  check_outputs(from, Further::outputs, out_h * out_w, "e2");
  const bool depthwise = line.cells[0].text.find("DP") != std::string::npos;
  const std::uint64_t depth = depthwise ? 1 : channels;
  const std::uint64_t batch = batch_of(from);
  LayerOp& row = context.add(line.cells[0].text, "gemm");
  row.m = cell(from, 6, "Num Filter");
  constexpr std::uint64_t kLargestFilter = 0xffff;
  if (filter_h > kLargestFilter || filter_w > kLargestFilter) {
    ImportContext::side(0, where(from), "Filter Height");
  }
  row.k = ImportContext::side(filter_h * filter_w * depth, where(from), "k");
  const std::uint32_t outputs = ImportContext::side(out_h * out_w, where(from), "n");
  row.n = ImportContext::side(outputs * batch, where(from), "n");
  if (depthwise) row.batch = static_cast<std::uint32_t>(channels);
  constexpr std::uint64_t kMostImage = std::uint64_t{1} << 32U;
  if (in_h * in_w > kMostImage) ImportContext::side(0, where(from), "IFMAP Height");
  constexpr std::uint64_t kMostInputs = std::uint64_t{1} << 63U;
  const std::uint64_t inputs = in_h * in_w * depth;
  if (inputs > kMostInputs / batch) ImportContext::side(0, where(from), "Batch Size");
  row.args = {{"x_unique", fmt::format("{}", inputs * batch)}};
  set_sparsity(from, section, row);
}

}  // namespace

void import_scalesim_gemm(const ImportFile& file, ImportContext& context) {
  const SparsitySection section = read_section(context.settings().text("scalesim-config"));
  constexpr std::size_t kCells = 4;
  const std::vector<Further> taken = {Further::sparsity, Further::batch};
  for_each_row(file, kCells, taken, context, [&](const TopologyRow& from) {
    // Its filter is the right operand, so its M and N change places.
    LayerOp& row = context.add(from.line.cells[0].text, "gemm");
    row.n = ImportContext::side(cell(from, 1, "M") * batch_of(from), where(from), "n");
    row.m = cell(from, 2, "N");
    row.k = cell(from, 3, "K");
    set_sparsity(from, section, row);
  });
}

void import_scalesim_conv(const ImportFile& file, ImportContext& context) {
  const SparsitySection section = read_section(context.settings().text("scalesim-config"));
  constexpr std::size_t kCells = 8;
  const std::vector<Further> taken = {Further::sparsity,      Further::batch,
                                      Further::stride_across, Further::out_height,
                                      Further::out_width,     Further::outputs};
  for_each_row(file, kCells, taken, context,
               [&](const TopologyRow& from) { add_convolution(from, file, context, section); });
}

}  // namespace lacuna

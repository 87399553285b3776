// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "sim/base/error.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

bool says_layer(const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find("layer") != std::string::npos;
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

/// Walks the rows of a topology: cells without the empty one behind a last comma.
void for_each_row(const ImportFile& file, std::size_t least, ImportContext& context,
                  const std::function<void(const CsvLine&)>& row) {
  CsvLines lines(file.text);
  CsvLine line;
  bool header = true;
  while (lines.next(line)) {
    if (line.kind != CsvLine::Kind::cells) continue;
    if (line.open_quote != 0) {
      throw_problem({place(file.path, line.number, line.open_quote), "E003", "", "an open quote",
                     "a closed one", ""});
    }
    if (header) {
      header = false;
      if (!says_layer(line.cells.front().text)) {
        context.result.warnings.push_back(
            fmt::format("{}:{}: the first line is taken for a header, but does not begin with "
                        "'Layer'; if it is a layer, it is lost",
                        file.path, line.number));
      }
      continue;
    }
    if (line.cells.size() > least && line.cells.back().text.empty()) line.cells.pop_back();
    if (line.cells.size() != least && line.cells.size() != least + 1) {
      throw_problem({place(file.path, line.number, 1), "E004", "",
                     fmt::format("{} cells", line.cells.size()),
                     fmt::format("{} cells, or {} with the sparsity", least, least + 1), ""});
    }
    row(line);
  }
  if (context.result.trace.ops.empty()) {
    throw_problem({place(file.path, 1, 1), "E001", "", "no row after the header", "a row", ""});
  }
}

std::uint32_t cell(const ImportFile& file, const CsvLine& line, std::size_t index,
                   const char* name) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  std::uint64_t value = 0;
  const CsvCell& text = line.cells[index];
  const IntegerError error = parse_integer(text.text, 1, kMost, value);
  if (error == IntegerError::none) return static_cast<std::uint32_t>(value);
  throw_problem({place(file.path, line.number, text.column),
                 error == IntegerError::not_an_integer ? "E202" : "E203", name, text.text,
                 fmt::format("an integer in [1, {}]", kMost), ""});
}

void set_sparsity(const ImportFile& file, const CsvLine& line, std::size_t index,
                  const SparsitySection& section, LayerOp& row) {
  if (line.cells.size() <= index || (section.given && !section.support)) return;
  const CsvCell& text = line.cells[index];
  row.pattern = first_of_group(text.text, place(file.path, line.number, text.column), "Sparsity");
}

}  // namespace

void import_scalesim_gemm(const ImportFile& file, ImportContext& context) {
  const SparsitySection section = read_section(context.settings().text("scalesim-config"));
  constexpr std::size_t kCells = 4;
  for_each_row(file, kCells, context, [&](const CsvLine& line) {
    // Its filter is the right operand, so its M and N change places.
    LayerOp& row = context.add(line.cells[0].text, "gemm");
    row.n = cell(file, line, 1, "M");
    row.m = cell(file, line, 2, "N");
    row.k = cell(file, line, 3, "K");
    set_sparsity(file, line, kCells, section, row);
  });
}

void import_scalesim_conv(const ImportFile& file, ImportContext& context) {
  const SparsitySection section = read_section(context.settings().text("scalesim-config"));
  constexpr std::size_t kCells = 8;
  for_each_row(file, kCells, context, [&](const CsvLine& line) {
    const std::uint64_t in_h = cell(file, line, 1, "IFMAP Height");
    const std::uint64_t in_w = cell(file, line, 2, "IFMAP Width");
    const std::uint64_t filter_h = cell(file, line, 3, "Filter Height");
    const std::uint64_t filter_w = cell(file, line, 4, "Filter Width");
    const std::uint64_t channels = cell(file, line, 5, "Channels");
    const std::uint64_t stride = cell(file, line, 7, "Strides");
    if (filter_h > in_h || filter_w > in_w) {
      throw_problem({place(file.path, line.number, line.cells[3].column), "E214", "Filter Height",
                     fmt::format("a filter of {} x {}", filter_h, filter_w),
                     fmt::format("one that fits {} x {}, as there is no padding", in_h, in_w), ""});
    }
    const auto out = [stride](std::uint64_t in, std::uint64_t filter) {
      return (in - filter + stride + stride - 1) / stride;
    };
    const bool depthwise = line.cells[0].text.find("DP") != std::string::npos;
    const std::uint64_t depth = depthwise ? 1 : channels;
    const std::string where = place(file.path, line.number, 1);
    LayerOp& row = context.add(line.cells[0].text, "gemm");
    row.m = cell(file, line, 6, "Num Filter");
    constexpr std::uint64_t kLargestFilter = 0xffff;
    if (filter_h > kLargestFilter || filter_w > kLargestFilter) {
      ImportContext::side(0, where, "Filter Height");
    }
    row.k = ImportContext::side(filter_h * filter_w * depth, where, "k");
    row.n = ImportContext::side(out(in_h, filter_h) * out(in_w, filter_w), where, "n");
    if (depthwise) row.batch = static_cast<std::uint32_t>(channels);
    constexpr std::uint64_t kMostImage = std::uint64_t{1} << 32U;
    if (in_h * in_w > kMostImage) ImportContext::side(0, where, "IFMAP Height");
    row.args = {{"x_unique", fmt::format("{}", in_h * in_w * depth)}};
    set_sparsity(file, line, kCells, section, row);
  });
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/row_reader.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

class TraceReader {
 public:
  TraceReader(const std::string& path, bool check_files)
      : path_(path), check_files_(check_files), diagnostics_(path) {}

  WorkloadTrace read(std::string_view text) {
    check_bytes(text);
    trace_.path = path_;
    trace_.name = std::filesystem::path(path_).filename().string();
    CsvLines lines(text);
    CsvLine line;
    while (lines.next(line)) read_line(line);
    if (rows_ == 0) {
      diagnostics_.add(std::max<std::size_t>(line.number, 1), 1, "E001",
                       header_ ? "no row after the header" : "no header", "at least one row");
    }
    diagnostics_.throw_if_any();
    return std::move(trace_);
  }

 private:
  // Of a row that was read: where it is, and its mask's shape, if that is known.
  struct Known {
    std::size_t line = 0;
    MaskShape shape;
  };

  void check_bytes(std::string_view text) {
    const auto bad = find_bad_byte(text);
    if (!bad) return;
    const auto byte = static_cast<unsigned char>(text[*bad]);
    throw_diagnostic(place_of_byte(path_, text, *bad), "E002", fmt::format("byte {:#04x}", byte),
                     "UTF-8 without NUL");
  }

  void read_line(const CsvLine& line) {
    if (line.kind == CsvLine::Kind::comment) return read_comment(line);
    if (line.kind == CsvLine::Kind::blank) return;
    if (line.open_quote != 0) {
      diagnostics_.add(line.number, line.open_quote, "E003",
                       "a quote that is not closed before the end of its cell",
                       R"("text", with "" for a quote inside)");
      ++rows_;
      return;
    }
    if (!header_) {
      header_.emplace(line, diagnostics_);
      return;
    }
    ++rows_;
    // Without an operation nothing else of a row can be judged.
    if (header_->has(Column::op)) read_cells(line);
  }

  void read_comment(const CsvLine& line) {
    constexpr std::string_view kMark = "# lacuna-trace v";
    if (header_ || seen_comment_) return;
    seen_comment_ = true;
    const std::string_view comment = line.comment;
    if (comment.substr(0, kMark.size()) != kMark) return;
    const std::string_view version = trimmed(comment.substr(kMark.size()));
    if (version == "1") return;
    diagnostics_.add(line.number, 1, "E005", "v" + std::string(version), "v1");
  }

  void read_cells(const CsvLine& line) {
    if (line.cells.size() != header_->width()) {
      diagnostics_.add(line.number, 1, "E004", fmt::format("{} cells", line.cells.size()),
                       fmt::format("{} cells, as in the header", header_->width()));
      // Its name is remembered, so that rows that refer to it are not blamed.
      const CsvCell* id = header_->find(line, Column::id);
      if (id != nullptr) known_.insert({id->text, {line.number, {}}});
      previous_ = id == nullptr ? "" : id->text;
      return;
    }
    RowCells cells(*header_, line, diagnostics_);
    LayerOp op = read_row(cells);
    resolve(cells, op);
    remember(cells, op);
    previous_ = op.id;
    trace_.ops.push_back(std::move(op));
  }

  static constexpr MaskShape kElement = {1, 1};

  // What names other rows and files.
  void resolve(RowCells& cells, LayerOp& op) {
    resolve_dependencies(cells, op);
    if (cells.failed(Column::pattern) || cells.failed(Column::op)) return;
    if (op.pattern.name == "ref" && !cells.failed(Column::pattern_args)) resolve_ref(cells, op);
    PatternSpec& pattern = op.pattern;
    if (pattern.name == "file" && !pattern.file.empty()) {
      const MaskShape block = {pattern.block_rows, pattern.block_cols};
      pattern.file = resolve_file(cells, Column::pattern_file, pattern.file, "a pattern",
                                  mask_shape(op), is_grid_of_blocks(pattern) ? block : kElement);
    }
    if (const std::string weights = weights_file(pattern); !weights.empty()) {
      set_weights_file(
          pattern, resolve_file(cells, Column::pattern_args, weights, "weights", mask_shape(op)));
    }
    if (!op.x_file.empty()) {
      op.x_file =
          resolve_file(cells, Column::x_pattern_file, op.x_file, "activations", {op.k, op.n});
    }
    if (const std::string* of = find_value(op.args, "of")) {
      const Known* known = find(cells, Column::args, *of);
      if (known != nullptr) check_shape(cells, Column::args, *known, {op.m, op.k}, *of);
    }
  }

  void resolve_dependencies(RowCells& cells, LayerOp& op) {
    if (op.depends_on.empty()) {
      if (!previous_.empty()) op.depends_on = {previous_};
    } else if (op.depends_on == std::vector<std::string>{"-"}) {
      op.depends_on.clear();
    } else {
      for (const std::string& id : op.depends_on) find(cells, Column::depends_on, id);
    }
  }

  const Known* find(RowCells& cells, Column column, const std::string& id) {
    if (const Known* const known = value_in(known_, id)) return known;
    std::vector<std::string> names;
    for (const auto& [name, known] : known_) names.push_back(name);
    cells.fail(column, "E210", id, "the id of an earlier row", nearest(id, names));
    return nullptr;
  }

  /// What is not known fits.
  static bool fits(std::uint64_t rows, std::uint64_t cols, MaskShape wanted) {
    const bool unknown = rows == 0 || cols == 0 || wanted.rows == 0 || wanted.cols == 0;
    return unknown || (rows == wanted.rows && cols == wanted.cols);
  }

  static void check_shape(RowCells& cells, Column column, const Known& known, MaskShape wanted,
                          const std::string& of) {
    const MaskShape& shape = known.shape;
    if (fits(shape.rows, shape.cols, wanted)) return;
    cells.fail(column, "E211", fmt::format("row '{}' of {} x {}", of, shape.rows, shape.cols),
               fmt::format("a row of {} x {}", wanted.rows, wanted.cols));
  }

  void resolve_ref(RowCells& cells, const LayerOp& op) {
    const std::string* of = find_value(op.pattern.args, "of");
    if (of == nullptr) return;
    const Known* known = find(cells, Column::pattern_args, *of);
    if (known == nullptr) return;
    MaskShape wanted = mask_shape(op);
    if (says(op.pattern.args, "transpose", "1")) std::swap(wanted.rows, wanted.cols);
    check_shape(cells, Column::pattern_args, *known, wanted, *of);
  }

  /// The path of a file beside the trace, whose matrix has the sides `wanted`, counted in `unit`.
  std::string resolve_file(RowCells& cells, Column column, const std::string& name,
                           const char* what, MaskShape wanted, MaskShape unit = kElement) {
    const std::string path = (std::filesystem::path(path_).parent_path() / name).string();
    if (!check_files_) return path;
    try {
      auto sides = sides_.find(path);
      if (sides == sides_.end()) sides = sides_.emplace(path, sides_of_pattern_file(path)).first;
      const std::uint64_t rows = sides->second.first * unit.rows;
      const std::uint64_t cols = sides->second.second * unit.cols;
      if (fits(rows, cols, wanted)) return path;
      cells.fail(column, "E211", fmt::format("{} of {} x {}", what, rows, cols),
                 fmt::format("{} x {}", wanted.rows, wanted.cols));
    } catch (const TraceError& error) {
      cells.fail_verbatim(
          column, fmt::format("{} ({} of row '{}', {}:{})", error.what(), name_of(column),
                              quotable(cells.text(Column::id)), path_, cells.line_number()));
    }
    return path;
  }

  void remember(RowCells& cells, const LayerOp& op) {
    if (op.id.empty()) return;
    const bool shaped = !cells.failed(Column::op) && !cells.failed(Column::m) &&
                        !cells.failed(Column::k) && !cells.failed(Column::n);
    const auto [first, is_new] =
        known_.insert({op.id, {op.line, shaped ? mask_shape(op) : MaskShape{}}});
    if (is_new) return;
    cells.fail(Column::id, "E209", op.id,
               fmt::format("each id once; the first is in line {}", first->second.line));
  }

  const std::string path_;
  const bool check_files_;
  Diagnostics diagnostics_;
  WorkloadTrace trace_;
  std::optional<TraceHeader> header_;
  std::map<std::string, Known> known_;                                    // rows by id
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sides_;  // of files
  std::string previous_;                                                  // id of the row before
  std::size_t rows_ = 0;
  bool seen_comment_ = false;
};

}  // namespace

WorkloadTrace read_trace(const std::string& path) {
  return parse_trace(read_text_file(path), path);
}

WorkloadTrace parse_trace(std::string_view text, const std::string& path, bool check_files) {
  return TraceReader(path, check_files).read(text);
}

}  // namespace lacuna

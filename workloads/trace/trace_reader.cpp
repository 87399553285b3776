// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/row_reader.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

class TraceReader {
 public:
  TraceReader(const std::string& path, bool check_files) : path_(path), check_files_(check_files) {}

  WorkloadTrace read(std::string_view text) {
    check_bytes(text);
    trace_.path = path_;
    trace_.name = std::filesystem::path(path_).filename().string();
    CsvLines lines(text);
    CsvLine line;
    while (lines.next(line)) read_line(line);
    if (rows_ == 0) {
      problems_.add({place(path_, std::max<std::size_t>(line.number, 1), 1), "E001", "",
                     header_ ? "no row after the header" : "no header", "at least one row", "",
                     line.number, 1});
    }
    problems_.throw_if_any();
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
    const std::string_view before = text.substr(0, *bad);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = *bad - (start == std::string_view::npos ? 0 : start + 1) + 1;
    const auto byte = static_cast<unsigned char>(text[*bad]);
    throw_problem({place(path_, line, column), "E002", "", fmt::format("byte {:#04x}", byte),
                   "UTF-8 without NUL", ""});
  }

  void read_line(const CsvLine& line) {
    if (line.kind == CsvLine::Kind::comment) return read_comment(line);
    if (line.kind == CsvLine::Kind::blank) return;
    if (line.open_quote != 0) {
      problems_.add({place(path_, line.number, line.open_quote), "E003", "",
                     "a quote that is not closed before the end of its cell",
                     R"("text", with "" for a quote inside)", "", line.number, line.open_quote});
      ++rows_;
      return;
    }
    if (!header_) {
      header_.emplace(line, path_, problems_);
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
    problems_.add({place(path_, line.number, 1), "E005", "", "v" + std::string(version), "v1", "",
                   line.number, 1});
  }

  void read_cells(const CsvLine& line) {
    if (line.cells.size() != header_->width()) {
      problems_.add(
          {place(path_, line.number, 1), "E004", "", fmt::format("{} cells", line.cells.size()),
           fmt::format("{} cells, as in the header", header_->width()), "", line.number, 1});
      // Its name is remembered, so that rows that refer to it are not blamed.
      const CsvCell* id = header_->find(line, Column::id);
      if (id != nullptr) known_.insert({id->text, {line.number, {}}});
      previous_ = id == nullptr ? "" : id->text;
      return;
    }
    RowCells cells(*header_, line, path_, problems_);
    LayerOp op = read_row(cells);
    resolve(cells, op);
    remember(cells, op);
    previous_ = op.id;
    trace_.ops.push_back(std::move(op));
  }

  // What names other rows and files.
  void resolve(RowCells& cells, LayerOp& op) {
    resolve_dependencies(cells, op);
    if (cells.failed(Column::pattern) || cells.failed(Column::op)) return;
    if (op.pattern.name == "ref" && !cells.failed(Column::pattern_args)) resolve_ref(cells, op);
    if (op.pattern.name == "file" && !op.pattern.file.empty()) resolve_file(cells, op);
    if (!weights_file(op.pattern).empty()) resolve_weights(cells, op);
    if (!op.x_file.empty()) resolve_x_file(cells, op);
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
    const auto found = known_.find(id);
    if (found != known_.end()) return &found->second;
    std::vector<std::string> names;
    for (const auto& [name, known] : known_) names.push_back(name);
    cells.fail(column, "E210", id, "the id of an earlier row", nearest(id, names));
    return nullptr;
  }

  static void check_shape(RowCells& cells, Column column, const Known& known, MaskShape wanted,
                          const std::string& of) {
    const MaskShape& shape = known.shape;
    const bool unknown = shape.rows == 0 || shape.cols == 0 || wanted.rows == 0 || wanted.cols == 0;
    if (unknown || (shape.rows == wanted.rows && shape.cols == wanted.cols)) return;
    cells.fail(column, "E211", fmt::format("row '{}' of {} x {}", of, shape.rows, shape.cols),
               fmt::format("a row of {} x {}", wanted.rows, wanted.cols));
  }

  void resolve_ref(RowCells& cells, const LayerOp& op) {
    const std::string* of = find_value(op.pattern.args, "of");
    if (of == nullptr) return;
    const Known* known = find(cells, Column::pattern_args, *of);
    if (known == nullptr) return;
    MaskShape wanted = mask_shape(op);
    const std::string* transpose = find_value(op.pattern.args, "transpose");
    if (transpose != nullptr && *transpose == "1") std::swap(wanted.rows, wanted.cols);
    check_shape(cells, Column::pattern_args, *known, wanted, *of);
  }

  void resolve_file(RowCells& cells, LayerOp& op) {
    const auto folder = std::filesystem::path(path_).parent_path();
    op.pattern.file = (folder / op.pattern.file).string();
    if (!check_files_) return;
    const std::string& file = op.pattern.file;
    auto shape = shapes_.find(file);
    if (shape == shapes_.end()) {
      try {
        const auto [rows, cols] = sides_of_pattern_file(file);
        shape = shapes_
                    .insert({file,
                             {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)}})
                    .first;
      } catch (const TraceError& error) {
        cells.fail_verbatim(Column::pattern_file,
                            fmt::format("{} (pattern_file of row '{}', {}:{})", error.what(),
                                        quotable(op.id), path_, op.line));
        return;
      }
    }
    check_file_shape(cells, op, shape->second);
  }

  void resolve_weights(RowCells& cells, LayerOp& op) {
    const auto folder = std::filesystem::path(path_).parent_path();
    set_weights_file(op.pattern, (folder / weights_file(op.pattern)).string());
    if (!check_files_) return;
    try {
      const auto [rows, cols] = sides_of_pattern_file(weights_file(op.pattern));
      const MaskShape wanted = mask_shape(op);
      if (wanted.rows == 0 || wanted.cols == 0) return;
      if (rows == wanted.rows && cols == wanted.cols) return;
      cells.fail(Column::pattern_args, "E211", fmt::format("weights of {} x {}", rows, cols),
                 fmt::format("{} x {}", wanted.rows, wanted.cols));
    } catch (const TraceError& error) {
      cells.fail_verbatim(Column::pattern_args,
                          fmt::format("{} (field of row '{}', {}:{})", error.what(),
                                      quotable(op.id), path_, op.line));
    }
  }

  /// The mask of X, if files are to be read; its shape is a problem of the row if it does not fit.
  void resolve_x_file(RowCells& cells, LayerOp& op) {
    op.x_file = (std::filesystem::path(path_).parent_path() / op.x_file).string();
    if (!check_files_) return;
    try {
      const auto [rows, cols] = sides_of_pattern_file(op.x_file);
      if (rows == op.k && cols == op.n) return;
      cells.fail(Column::x_pattern_file, "E211", fmt::format("activations of {} x {}", rows, cols),
                 fmt::format("{} x {}, k x n", op.k, op.n));
    } catch (const TraceError& error) {
      cells.fail_verbatim(Column::x_pattern_file,
                          fmt::format("{} (x_pattern_file of row '{}')", error.what(), op.id));
    }
  }

  static void check_file_shape(RowCells& cells, const LayerOp& op, MaskShape found) {
    const MaskShape wanted = mask_shape(op);
    if (wanted.rows == 0 || wanted.cols == 0) return;
    const bool grid = is_grid_of_blocks(op.pattern);
    const std::uint64_t rows = std::uint64_t{found.rows} * (grid ? op.pattern.block_rows : 1);
    const std::uint64_t cols = std::uint64_t{found.cols} * (grid ? op.pattern.block_cols : 1);
    if (rows == wanted.rows && cols == wanted.cols) return;
    cells.fail(Column::pattern_file, "E211", fmt::format("a pattern of {} x {}", rows, cols),
               fmt::format("{} x {}", wanted.rows, wanted.cols));
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
  ProblemList problems_;
  WorkloadTrace trace_;
  std::optional<TraceHeader> header_;
  std::map<std::string, Known> known_;       // rows by id
  std::map<std::string, MaskShape> shapes_;  // of pattern files
  std::string previous_;                     // id of the row before
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

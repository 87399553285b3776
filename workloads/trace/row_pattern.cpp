// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_pattern.hpp"

#include <fmt/format.h>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"

namespace lacuna {
namespace {

using Masked = OpKind::Masked;

class PatternReader {
 public:
  PatternReader(RowCells& cells, const OpKind* kind, LayerOp& op)
      : cells_(cells), kind_(kind), op_(op), spec_(op.pattern) {}

  void read() {
    const std::vector<std::string> names = pattern_names();
    const auto word = cells_.word(Column::pattern, names);
    if (word) spec_.name = names[*word];
    spec_.density = cells_.fraction(Column::density);
    if (cells_.is_set(Column::block)) {
      read_block(cells_.text(Column::block), spec_,
                 [&](auto&&... what) { cells_.fail(Column::block, what...); });
    }
    const auto pairs = cells_.pairs(Column::pattern_args);
    if (pairs) spec_.args = *pairs;
    spec_.file = cells_.text(Column::pattern_file);
    const bool readable = !cells_.failed(Column::pattern) && !cells_.failed(Column::density) &&
                          !cells_.failed(Column::block) && pairs;
    if (kind_ == nullptr || !readable) return;
    if (kind_->masked == Masked::none) return check_unused();
    check_kind();
  }

 private:
  // The cells of the pattern, of which an operation without a masked operand takes none.
  void check_unused() {
    const auto check = [this](Column column, bool used) {
      if (used) cells_.fail_with_op(column, kind_->name);
    };
    check(Column::pattern, spec_.name != "dense");
    check(Column::density, spec_.density && !(*spec_.density == Decimal{1, 0}));
    check(Column::block, spec_.block_rows != 1 || spec_.block_cols != 1);
    check(Column::pattern_file, !spec_.file.empty());
    check(Column::pattern_args, !spec_.args.empty());
  }

  void check_kind() {
    if (op_.op == "spmm" && spec_.name == "dense") {
      if (cells_.is_set(Column::pattern)) {
        cells_.fail(Column::pattern, "E206", "dense", "any other pattern with op spmm");
      } else {
        cells_.fail_empty(Column::pattern, "a pattern, as op spmm needs one");
      }
      return;
    }
    if (spec_.name != "file" && !spec_.file.empty()) {
      cells_.fail(Column::pattern_file, "E208", spec_.file,
                  fmt::format("empty with pattern {}", spec_.name));
    }
    if (spec_.name == "file") {
      if (spec_.file.empty()) cells_.fail_empty(Column::pattern_file, "the file of a matrix");
      check_implied();
      check_keys({"unit"});
      if (check_word("unit", {"element", "block"}) == nullptr) check_no_block();
    } else if (spec_.name == "ref") {
      check_implied();
      check_keys({"of", "transpose"});
      cells_.require_key(Column::pattern_args, spec_.args, "of");
      check_word("transpose", {"0", "1"});
      check_no_block();
    } else {
      check_generated();
    }
  }

  void check_implied() {
    if (!spec_.density) return;
    cells_.fail(Column::density, "E214", cells_.text(Column::density),
                fmt::format("empty, as pattern {} implies it", spec_.name));
  }

  void check_no_block() {
    if (spec_.block_rows == 1 && spec_.block_cols == 1) return;
    cells_.fail(Column::block, "E208", cells_.text(Column::block),
                fmt::format("empty or 1 with this pattern {}", spec_.name));
  }

  void check_keys(const std::vector<std::string>& keys) {
    for (std::size_t i = 0; i < spec_.args.size(); ++i) {
      cells_.check_key(Column::pattern_args, spec_.args, i, keys);
    }
  }

  /// The value of a key, which is one of `words`; null if it is not there.
  const std::string* check_word(const std::string& key, const std::vector<std::string>& words) {
    const std::string* value = find_value(spec_.args, key);
    if (value != nullptr) cells_.check_word(Column::pattern_args, key, *value, words);
    return value;
  }

  void check_generated() {
    if (spec_.name == "block" && cells_.text(Column::block).empty()) {
      cells_.fail_empty(Column::block, "the side of the blocks");
    }
    const MaskShape shape = mask_shape(op_);
    for (const PatternDiagnostic& diagnostic : check_pattern(spec_, shape.rows, shape.cols)) {
      const Column column = column_of(diagnostic.cell);
      // A dimension that could not be read was reported, and is no multiple of anything.
      if (cells_.failed(column)) continue;
      if (diagnostic.code == "E201") {
        cells_.fail_empty(column, diagnostic.allowed);
      } else {
        const bool whole = column == Column::density || column == Column::block;
        cells_.fail(column, diagnostic.code, whole ? cells_.text(column) : diagnostic.found,
                    diagnostic.allowed, diagnostic.hint);
      }
    }
  }

  Column column_of(const std::string& cell) const {
    if (cell == "rows") return Column::m;
    if (cell == "cols") return kind_->masked == Masked::m_by_k ? Column::k : Column::n;
    if (cell == "density") return Column::density;
    if (cell == "block") return Column::block;
    return cell == "pattern_args" ? Column::pattern_args : Column::pattern;
  }

  RowCells& cells_;
  const OpKind* kind_;
  LayerOp& op_;
  PatternSpec& spec_;
};

}  // namespace

std::vector<std::string> pattern_names() {
  std::vector<std::string> names = names_in(pattern_kinds());
  names.emplace_back("file");
  names.emplace_back("ref");
  return names;
}

void read_pattern(RowCells& cells, const OpKind* kind, LayerOp& op) {
  PatternReader(cells, kind, op).read();
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_cells.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

/// Takes "b" or "RxC", each at least 1, as the block of `spec`; what else it is `fail` is told: a
/// code, what was found and what is allowed.
template <class Fail>
void read_block(const std::string& text, PatternSpec& spec, const Fail& fail) {
  const std::size_t cross = text.find_first_of("xX");
  const std::string first = text.substr(0, cross);
  const std::string second = cross == std::string::npos ? first : text.substr(cross + 1);
  const auto rows = parse_integer(first, 1, kMostSide);
  const auto cols = parse_integer(second, 1, kMostSide);
  if (!rows || !cols) {
    return fail(integer_error(rows ? second : first), text, "a block 'b' or 'RxC' of at least 1");
  }
  spec.block_rows = static_cast<std::uint32_t>(*rows);
  spec.block_cols = static_cast<std::uint32_t>(*cols);
}

/// Reads the cells of the pattern into `op`, whose dimensions are read, and checks that it can be
/// made. `kind` is null if the operation is not known.
void read_pattern(RowCells& cells, const OpKind* kind, LayerOp& op);

/// The names a pattern may have: those that are generated, `file` and `ref`.
std::vector<std::string> pattern_names();

}  // namespace lacuna

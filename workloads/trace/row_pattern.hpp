// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_cells.hpp"

namespace lacuna {

/// Reads the cells of the pattern into `op`, whose dimensions are read, and checks that it can be
/// made. `kind` is null if the operation is not known.
void read_pattern(RowCells& cells, const OpKind* kind, LayerOp& op);

/// The names a pattern may have: those that are generated, `file` and `ref`.
std::vector<std::string> pattern_names();

}  // namespace lacuna

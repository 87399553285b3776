// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"
#include "workloads/trace/row_cells.hpp"

namespace lacuna {

/// Reads one row as far as it can be read by itself: everything but what names other rows or
/// files. What is wrong is noted in `cells`; the rest of the row is read nevertheless.
/// `depends_on` holds the cell's list as written.
LayerOp read_row(RowCells& cells);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "workloads/functions/row_functions.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"

namespace lacuna::ipu {

/// What a vector of a row operation costs.
struct RowPasses {
  std::vector<VectorPass> stages;  // of the function
  VectorPass columns;              // of its sums: for a vector of columns and one row
};

const RowPasses& row_passes(const RowFunction& function);

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/mapping/ipu/reduce/column_reduce.hpp"
#include "workloads/mapping/ipu/rows/row_values.hpp"

namespace lacuna::ipu {

/// What a row operation left on its tiles: by group, then by part, and the sums over `rows` rows of
/// the columns of each part.
struct RowResult {
  std::vector<RowPart> parts;
  std::vector<ColumnReduce> sums;
  std::uint64_t rows = 0;
  std::uint64_t part_length = 0;
  std::uint64_t stride = 0;  // of rows in the operands
  std::uint64_t seed = 0;
  double sigma = 0;
  const GivenOperands* given = nullptr;
};

/// Compares it with the same functions of whole rows in FP64.
Comparison compare_rows(const RowResult& result, const ChipMemory& chip);

}  // namespace lacuna::ipu

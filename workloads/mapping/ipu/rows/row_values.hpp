// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/ipu/tile_memory.hpp"
#include "workloads/functions/row_values.hpp"

namespace lacuna::ipu {

/// A tile's part of the rows, with values.
struct RowPart {
  const RowFunction* function = nullptr;
  DType type = DType::fp16;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
  std::uint64_t part = 0;
  std::uint64_t parts = 1;
  std::uint64_t begin = 0;                  // of its elements of each row
  std::vector<std::uint64_t> counts;        // of them, by row
  std::vector<std::uint64_t> lengths;       // of the whole rows
  std::vector<std::uint64_t> offsets;       // of rows in the tile's regions, in elements
  std::array<std::uint32_t, 2> operands{};  // addresses of regions, in words
  std::array<std::uint32_t, 2> vectors{};
  std::uint32_t saved = 0;
  std::uint32_t output = 0;
  std::uint32_t columns = 0;         // partial sums
  std::uint64_t column_stride = 0;   // of them, in words
  std::vector<std::uint32_t> stats;  // by stage: {part, row, statistic}
  std::uint64_t most_rows = 0;       // of any tile: the stride of a part in `stats`

  /// Executes passes [first, last).
  void run_stages(TileMemory& memory, std::size_t first, std::size_t last) const;

  /// Forms the sums over its rows.
  void sum_columns(TileMemory& memory) const;

  /// Combines what the parts found of row `r` of this tile, for stages before `last`.
  std::vector<RowStats> found(const TileMemory& memory, std::uint64_t r, std::size_t last) const;
};

}  // namespace lacuna::ipu

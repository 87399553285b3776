// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// Which elements of a rows x cols matrix are kept: compressed sparse rows of block_rows x
/// block_cols blocks (1 x 1: elements). Row r of blocks keeps the blocks columns[offsets[r]] ...
/// columns[offsets[r + 1] - 1], ascending; a kept block is dense. Blocks tile the matrix exactly
/// unless it was built with padding, when blocks at the edge are cut.
struct Mask {
  std::uint32_t rows = 0;  // elements
  std::uint32_t cols = 0;
  std::uint32_t block_rows = 1;
  std::uint32_t block_cols = 1;
  std::vector<std::uint64_t> offsets;  // one per row of blocks, and one more
  std::vector<std::uint32_t> columns;  // in blocks

  std::uint32_t grid_rows() const { return (rows + block_rows - 1) / block_rows; }
  std::uint32_t grid_cols() const { return (cols + block_cols - 1) / block_cols; }
  std::uint64_t blocks() const { return columns.size(); }

  /// Kept elements.
  std::uint64_t nnz() const;
  double density() const;

  /// The same kept elements as 1 x 1 blocks.
  Mask elements() const;

  /// The kept elements as dense blocks of `rows` x `cols` (each a multiple of the other side's
  /// grid): a block is kept if any of its elements is. The nnz may grow.
  Mask blocked(std::uint32_t side_rows, std::uint32_t side_cols) const;

  Mask transposed() const;
};

bool operator==(const Mask& a, const Mask& b);

/// All elements kept, as blocks of the given side; 1 gives rows x cols entries.
Mask dense_mask(std::uint32_t rows, std::uint32_t cols, std::uint32_t block = 1);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// The order that the zeros of a matrix have.
struct ZeroStructure {
  std::uint64_t nnz = 0;
  double density = 0;
  /// At most `keep` of every aligned `of` elements of a row are there, and nearly as many in the
  /// mean; 0 of 0: no such order, or it is that of blocks of several rows.
  std::uint32_t keep = 0;
  std::uint32_t of = 0;
  /// The largest aligned blocks in which zeros come: 95 % of the zeros are in blocks without any
  /// element, and 95 % of what is in the other blocks is there. 1 x 1: in none.
  std::uint32_t block_rows = 1;
  std::uint32_t block_cols = 1;
  /// The largest square block, of 4, 8 and 16, all of whose elements are zero or none is; else 1.
  std::uint32_t whole_block = 1;
  double fullest_row = 0;  // over the mean row; 0 of an empty matrix
  double fullest_col = 0;
  std::uint64_t empty_rows = 0;
  std::uint64_t empty_cols = 0;
};

ZeroStructure find_zero_structure(const Mask& mask);

/// "12.5 % kept, 2:4; the fullest row has 1.2 times the mean, the fullest column 1.4", or "dense".
std::string structure_text(const ZeroStructure& zeros);

}  // namespace lacuna

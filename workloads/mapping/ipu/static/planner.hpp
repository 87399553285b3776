// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// The clocks a plan is expected to take, by phase.
struct StaticEstimate {
  Cycle rhs = 0;       // gather of the dense operand
  Cycle nonzeros = 0;  // exchange of the non-zeros
  Cycle compute = 0;
  Cycle zero = 0;
  Cycle partials = 0;
  Cycle reduce = 0;
  Cycle move = 0;

  Cycle total() const { return rhs + nonzeros + compute + zero + partials + reduce + move; }
};

/// A run of columns of blocks, and how many blocks they hold.
struct ColumnBand {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t nonzeros = 0;
  std::uint32_t filled = 0;  // columns with at least one block
};

/// A run of columns of the dense operand and of consecutive tiles.
struct ColumnPart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // of the padded columns
  unsigned first_tile = 0;
  unsigned tiles = 0;

  std::uint64_t columns() const { return end - begin; }
};

/// How a product with a sparse left operand is cut. The dense operand's columns are cut in parts,
/// the sparse one's in bands of about equally many non-zeros. The non-zeros of a band, row by row,
/// are dealt in equal runs to its tiles in a part.
struct StaticPlan {
  unsigned block = 1;
  unsigned n_split = 1;
  unsigned k_split = 1;
  std::uint64_t padded_n = 0;
  std::uint64_t planned_rows = 0;  // rows of blocks that were not pruned
  std::uint64_t planned_columns = 0;
  std::vector<std::uint32_t> column_order;  // of blocks: the pruned ones come last
  std::vector<ColumnPart> parts;
  std::vector<ColumnBand> bands;  // in column_order
  std::uint64_t tile_bytes = 0;
  StaticEstimate estimate;
};

/// Columns of the dense operand come in multiples of this.
unsigned static_grain(const Types& types);

/// The tiles that each band gets of `tiles`; empty if some band gets none.
std::vector<unsigned> tiles_of_bands(const std::vector<ColumnBand>& bands, std::uint64_t nonzeros,
                                     unsigned tiles);

/// The cheapest plan after PopLibs popsparse/StaticMatMulPartitioner.cpp (MIT). The mask's blocks
/// have side 1, 4, 8 or 16 and at least one is kept. Throws OutOfMemoryError if nothing fits.
StaticPlan plan_static(const Target& target, const Types& types, const Mask& mask, std::uint64_t n);

}  // namespace lacuna::ipu

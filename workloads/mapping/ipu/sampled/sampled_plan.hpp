// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/exchange/plan.hpp"
#include "workloads/mapping/ipu/dynamic/planner.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// A kept block of the mask: its place in the grid of blocks, and its number in the mask.
struct SampledBlock {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::uint64_t index = 0;
};

/// Blocks of another rectangle in a bucket, from its block `first` on.
struct SampledSpill {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t first = 0;
  std::vector<SampledBlock> blocks;
};

/// A step of all buckets along the grid.
struct GridStep {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
};

/// How mask o (A B) is cut: the mask's rows in x bands, its columns in y, the contraction in z
/// parts. Tile (x, y, z) makes partials of all blocks of a rectangle over its part. It then sums
/// those of piece z over all parts.
struct SampledPlan {
  unsigned block = 1;
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t z = 1;
  std::uint64_t depth = 0;  // elements of the contraction on a tile
  bool amp = false;
  bool search = false;                   // pieces are buckets of a dynamic pattern
  std::uint64_t bucket_words = 0;        // of meta-information, in 32-bit words
  std::vector<std::uint32_t> row_begin;  // of bands, in blocks, one more at the end
  std::vector<std::uint32_t> column_begin;
  std::vector<std::vector<std::vector<SampledBlock>>> pieces;  // by y * x + x, then by z
  std::vector<std::vector<SampledSpill>> spills;               // by tile, if buckets overflow
  std::vector<GridStep> steps;                                 // that buckets then travel
  std::uint64_t bucket_blocks = 0;                             // that a bucket can hold
  Cycle estimate = kNever;
  std::uint64_t tile_bytes = 0;

  TileId tile(std::uint64_t at_x, std::uint64_t at_y, std::uint64_t at_z) const {
    return static_cast<TileId>((at_y * z + at_z) * x + at_x);
  }
  const std::vector<std::vector<SampledBlock>>& rectangle(std::uint64_t at_x,
                                                          std::uint64_t at_y) const {
    return pieces[at_y * x + at_x];
  }
  std::uint64_t rows(std::uint64_t at_x) const { return row_begin[at_x + 1] - row_begin[at_x]; }
  std::uint64_t columns(std::uint64_t at_y) const {
    return column_begin[at_y + 1] - column_begin[at_y];
  }
};

/// The cheapest plan for a pattern that is known: bands of about equally many blocks.
/// OutOfMemoryError if nothing fits.
SampledPlan plan_sampled(const Target& target, const Types& types, const Mask& mask,
                         std::uint64_t contraction);

/// The plan of the gradient of dynamic weights: the grid and the buckets of their product.
SampledPlan plan_sampled_buckets(const Target& target, const Types& types, const Mask& mask,
                                 const DynamicPlan& grid);

}  // namespace lacuna::ipu

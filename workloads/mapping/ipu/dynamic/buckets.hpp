// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/ipu/dynamic/planner.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// Non-zeros of one row of blocks inside a sub-group; indices of the mask.
struct BucketRow {
  std::uint32_t row = 0;
  std::vector<std::uint32_t> columns;
};

/// Non-zeros that belong to the tiles (x, y) of the grid, for all their parts of the columns.
struct SubGroup {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::vector<BucketRow> rows;

  std::uint64_t nonzeros() const;
};

/// What one tile holds of the sparse operand: its own sub-group, and pieces of others that did not
/// fit theirs.
struct Bucket {
  std::vector<SubGroup> groups;

  std::uint64_t nonzeros() const;
  std::uint64_t words() const;  // 16-bit words of meta-information, given for `element_wise`
  bool element_wise = true;
  unsigned workers = 6;
};

/// All buckets, and how far they have to travel. Bucket (x, y, z) is at (y * Z + z) * X + x.
struct BucketSet {
  std::vector<Bucket> buckets;
  std::uint32_t steps_x = 1;  // partitions that buckets visit along the rows, their own included
  std::uint32_t steps_y = 1;

  /// Exchanges of all buckets beyond the distribution to the tiles of their own (x, y).
  std::uint64_t propagation_steps(std::uint64_t z) const {
    return (std::uint64_t{steps_x} * steps_y - 1) * z;
  }
};

/// Deals the non-zeros of `mask` to buckets, as a host does whenever the pattern changes: each
/// rectangle's in equal runs to its Z buckets, what does not fit to others, nearest first. After
/// PopLibs popsparse/SparsePartitionerImpl.cpp (MIT). SimulationError if they overflow.
BucketSet fill_buckets(const DynamicPlan& plan, const Mask& mask, unsigned workers);

/// The same buckets as a transposed product sees them: rows and contraction of the grid change
/// places, of sub-groups and of the places of buckets. Rows of a sub-group stay those of the
/// matrix.
BucketSet transposed_buckets(const DynamicPlan& plan, const BucketSet& buckets);
DynamicPlan transposed_plan(const DynamicPlan& plan);

}  // namespace lacuna::ipu

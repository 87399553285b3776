// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/dynamic/planner.hpp"
#include "workloads/mapping/ipu/homes.hpp"

namespace lacuna::ipu {

/// Where a product with a dynamic pattern, of so many rows and columns of blocks, has its dense
/// operand and its result.
class DynamicHomes final : public ProductHomes {
 public:
  DynamicHomes(const Types& types, const DynamicPlan& plan, std::uint64_t grid_rows,
               std::uint64_t grid_columns)
      : types_(types),
        plan_(plan),
        columns_(plan.tile_z * plan.z_grain),
        grid_rows_(grid_rows),
        grid_columns_(grid_columns) {}

  OutputPlace input(std::uint32_t row, std::uint32_t column) const override;
  OutputPlace result(std::uint32_t row, std::uint32_t column) const override;
  DType type() const override { return types_.data; }

  /// Rows of blocks of partition x, and columns of blocks of partition y, that there are.
  std::uint64_t rows_of(std::uint64_t x) const;
  std::uint64_t depth_of(std::uint64_t y) const;

  /// Words of the partials of partition x that each of its tiles sums.
  std::uint32_t slice_of(std::uint64_t x) const;

  /// Words of partition y of the dense operand, and those of it that one of its tiles is home of.
  std::uint64_t dense_words_of(std::uint64_t y) const;
  std::uint64_t dense_share_of(std::uint64_t y) const;

 private:
  const Types types_;
  const DynamicPlan plan_;
  const std::uint64_t columns_;  // of the dense operand, of a tile
  const std::uint64_t grid_rows_;
  const std::uint64_t grid_columns_;
};

}  // namespace lacuna::ipu

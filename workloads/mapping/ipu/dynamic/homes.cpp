// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dynamic/homes.hpp"

#include <algorithm>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/planner.hpp"

namespace lacuna::ipu {

std::uint64_t DynamicHomes::rows_of(std::uint64_t x) const {
  return std::min((x + 1) * plan_.tile_x, grid_rows_) - std::min(x * plan_.tile_x, grid_rows_);
}

std::uint64_t DynamicHomes::depth_of(std::uint64_t y) const {
  return std::min((y + 1) * plan_.tile_y, grid_columns_) -
         std::min(y * plan_.tile_y, grid_columns_);
}

std::uint32_t DynamicHomes::slice_of(std::uint64_t x) const {
  const std::uint64_t partials = rows_of(x) * plan_.block * columns_;
  const std::uint64_t all = ceil_div(partials * types_.partial_bytes(), 8) * 2;
  return static_cast<std::uint32_t>(round_up(ceil_div(all, plan_.y), 2));
}

std::uint64_t DynamicHomes::dense_words_of(std::uint64_t y) const {
  return ceil_div(depth_of(y) * plan_.block * columns_ * types_.bytes(), 8) * 2;
}

std::uint64_t DynamicHomes::dense_share_of(std::uint64_t y) const {
  return dense_home_words(false, dense_words_of(y), plan_.x);
}

OutputPlace DynamicHomes::input(std::uint32_t row, std::uint32_t column) const {
  const std::uint64_t block = plan_.block;
  const std::uint64_t y = row / block / plan_.tile_y;
  const std::uint64_t z = column / columns_;
  const std::uint64_t local = row / block % plan_.tile_y;
  const std::uint64_t element = (local * columns_ + column % columns_) * block + row % block;
  const std::uint64_t x = element * types_.bytes() / 4 / dense_share_of(y);
  return {static_cast<TileId>((y * plan_.z + z) * plan_.x + x), element};
}

OutputPlace DynamicHomes::result(std::uint32_t row, std::uint32_t column) const {
  const std::uint64_t block = plan_.block;
  const std::uint64_t x = row / block / plan_.tile_x;
  const std::uint64_t z = column / columns_;
  const std::uint64_t local = row / block % plan_.tile_x;
  const std::uint64_t element = (local * columns_ + column % columns_) * block + row % block;
  const std::uint64_t slice = std::uint64_t{slice_of(x)} * (4 / types_.partial_bytes());
  const std::uint64_t y = element / slice;
  return {static_cast<TileId>((y * plan_.z + z) * plan_.x + x), element % slice};
}

}  // namespace lacuna::ipu

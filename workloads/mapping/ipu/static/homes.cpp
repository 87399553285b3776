// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/homes.hpp"

#include "workloads/mapping/ipu/static/planner.hpp"

namespace lacuna::ipu {
namespace {

std::uint64_t grain_of_homes(const Types& types, unsigned block) {
  const std::uint64_t grain = static_grain(types);
  return block == 1 ? grain : grain * grain;
}

}  // namespace

StaticHomes::StaticHomes(const Target& target, const Types& types, unsigned block, std::uint64_t n,
                         std::uint64_t grid_rows, std::uint64_t grid_columns)
    : type_(types.data),
      block_(block),
      n_(n),
      inputs_(grid_columns * n * block, grain_of_homes(types, block), target.tiles),
      results_(grid_rows * n * block, grain_of_homes(types, block), target.tiles) {}

OutputPlace StaticHomes::at(const LinearMap& map, std::uint64_t row, std::uint64_t column) const {
  const std::uint64_t element = (row / block_ * n_ + column) * block_ + row % block_;
  const unsigned tile = map.tile_of(element);
  return {tile, element - map.begin(tile)};
}

OutputPlace StaticHomes::input(std::uint32_t row, std::uint32_t column) const {
  return at(inputs_, row, column);
}

OutputPlace StaticHomes::result(std::uint32_t row, std::uint32_t column) const {
  return at(results_, row, column);
}

}  // namespace lacuna::ipu

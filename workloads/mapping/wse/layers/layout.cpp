// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/layout.hpp"

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::wse {

LayerLayout::LayerLayout(const WaferParams& wafer, std::uint32_t features, std::uint32_t tokens,
                         std::uint32_t batch, std::uint32_t unit)
    : features_(features), tokens_(tokens), batch_(batch) {
  const std::uint32_t width = wafer.columns;
  const std::uint32_t height = wafer.rows;
  const std::uint32_t most =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(batch, std::uint64_t{width} * height));
  std::uint32_t best_side = 0;
  std::uint64_t best_area = 0;
  for (std::uint32_t across = 1; across <= std::min(most, width); ++across) {
    const auto down = static_cast<std::uint32_t>(ceil_div(most, across));
    if (down > height) continue;
    const std::uint32_t columns = width / across;
    const std::uint32_t rows = height / down;
    const std::uint32_t side = std::min(columns, rows);
    const std::uint64_t area = std::uint64_t{columns} * rows;
    if (side < best_side || (side == best_side && area <= best_area)) continue;
    best_side = side;
    best_area = area;
    grid_columns_ = across;
    grid_rows_ = down;
    columns_ = columns;
    rows_ = rows;
  }
  share_ = static_cast<std::uint32_t>(ceil_div(ceil_div(features, columns_), unit)) * unit;
  used_columns_ = static_cast<std::uint32_t>(ceil_div(features, share_));
}

}  // namespace lacuna::wse

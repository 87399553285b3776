// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/chip_params.hpp"

#include <fmt/format.h>

namespace lacuna::ipu {

void ChipParams::check() const {
  constexpr unsigned kTilesOfARow = 64;  // 16 columns of two pairs
  const unsigned most = ipu.rows * kTilesOfARow;
  if (exchange.latency == LatencyModel::floor_plan && ipu.tiles > most) {
    throw ParameterError(fmt::format(
        "ipu.tiles = {} does not fit the floor plan: ipu.rows = {} gives room for {} tiles",
        ipu.tiles.value(), ipu.rows.value(), most));
  }
}

}  // namespace lacuna::ipu

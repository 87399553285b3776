// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/chip_params.hpp"
#include "models/ipu/exchange_plan.hpp"

namespace lacuna::ipu {

/// The place of `tile` on a die of `rows` rows, as an id of 64 * row + column + 2 * lane. Tiles
/// are numbered along snaking columns of pairs; the partner of a tile is its id xor 2.
unsigned physical_id(TileId tile, unsigned rows);

/// From a send to the write in the receiver's memory, both given by their physical ids.
unsigned floor_plan_latency(unsigned sender, unsigned receiver);

}  // namespace lacuna::ipu

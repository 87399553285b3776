// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/wse/inference/decode_shape.hpp"
#include "workloads/mapping/wse/inference/decode_zeros.hpp"

namespace lacuna::wse {

/// Where a core's tile lies in its matrix. Rows and columns of the cores of a block.
struct TilePlace {
  Matrix matrix = Matrix::q;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};
/// Features of the projection; ~0 of padding.
std::uint32_t input_of(const DecodeShape& shape, const TilePlace& place, std::uint32_t input);
std::uint32_t output_of(const DecodeShape& shape, const TilePlace& place, std::uint32_t output);

/// Of a core's whole tile.
TileFeatures features_of(const DecodeShape& shape, const TilePlace& place);

/// Sizes of the fullest tile of each sparse matrix on the block of `shape`.
void measure_tiles(const DecodeShape& shape, DecodeZeros& zeros);

}  // namespace lacuna::wse

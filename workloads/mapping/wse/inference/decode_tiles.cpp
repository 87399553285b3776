// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_tiles.hpp"

namespace lacuna::wse {

std::uint32_t input_of(const DecodeShape& shape, const TilePlace& place, std::uint32_t input) {
  if (place.matrix == Matrix::o) return shape.query_feature(place.column, input);
  if (place.matrix == Matrix::down) return shape.inner_feature(place.column, input);
  return shape.hidden_feature(place.row, input);
}

std::uint32_t output_of(const DecodeShape& shape, const TilePlace& place, std::uint32_t output) {
  const DecoderModel& m = shape.model();
  const auto behind = [](std::uint32_t before, std::uint32_t feature) {
    return feature == DecodeShape::kPadding ? feature : before + feature;
  };
  switch (place.matrix) {
    case Matrix::q:
      return shape.query_feature(place.column, output);
    case Matrix::k:
      return behind(m.heads * m.head_dim, shape.key_feature(place.column, output));
    case Matrix::v:
      return behind((m.heads + m.kv_heads) * m.head_dim, shape.key_feature(place.column, output));
    case Matrix::up: {
      const std::uint32_t f = shape.f();
      return behind(output < f ? 0 : m.ffn, shape.inner_feature(place.column, output % f));
    }
    case Matrix::o:
    case Matrix::down:
      break;
  }
  return shape.hidden_feature(place.row, output);
}

TileFeatures features_of(const DecodeShape& shape, const TilePlace& place) {
  TileFeatures tile;
  for (std::uint32_t i = 0; i < shape.inputs(place.matrix); ++i) {
    tile.inputs.push_back(input_of(shape, place, i));
  }
  for (std::uint32_t i = 0; i < shape.outputs(place.matrix); ++i) {
    tile.outputs.push_back(output_of(shape, place, i));
  }
  return tile;
}

void measure_tiles(const DecodeShape& shape, DecodeZeros& zeros) {
  for (std::size_t i = 0; i < kMatrices; ++i) {
    const auto matrix = static_cast<Matrix>(i);
    zeros.sizes.at(i) = {};
    if (!zeros.weights.at(static_cast<std::size_t>(projection_of(matrix))).given()) continue;
    const bool has =
        projection_of(matrix) < Projection::up ? shape.block().attention : shape.block().ffn;
    if (!has) continue;
    const NonZeros& weights = zeros.weights.at(static_cast<std::size_t>(projection_of(matrix)));
    for (std::uint32_t row = 0; row < shape.block().rows; ++row) {
      for (std::uint32_t column = 0; column < shape.block().columns; ++column) {
        zeros.sizes.at(i).cover(weights, features_of(shape, {matrix, row, column}));
      }
    }
    zeros.sizes.at(i).finish(shape.outputs(matrix));
  }
}

}  // namespace lacuna::wse

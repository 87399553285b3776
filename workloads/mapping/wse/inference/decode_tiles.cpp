// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_tiles.hpp"

#include <algorithm>

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
    default:
      return shape.hidden_feature(place.row, output);
  }
}

std::vector<OutputRun> runs_of(const DecodeShape& shape, const NonZeros& weights,
                               const TilePlace& place, std::uint32_t input) {
  std::vector<OutputRun> runs;
  const std::uint32_t feature = input_of(shape, place, input);
  const std::uint32_t outputs = shape.outputs(place.matrix);
  for (std::uint32_t i = 0; i < outputs; ++i) {
    if (!weights.at(output_of(shape, place, i), feature)) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == i) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1});
    }
  }
  return runs;
}

namespace {

/// What a tile has, and the most of it and of those before.
void take_fullest(const DecodeShape& shape, const NonZeros& weights, const TilePlace& place,
                  SparseTileSize& most) {
  SparseTileSize tile;
  const std::uint32_t outputs = shape.outputs(place.matrix);
  std::uint32_t inside = 0;  // outputs that are no padding
  for (std::uint32_t i = 0; i < outputs; ++i) {
    inside += output_of(shape, place, i) == DecodeShape::kPadding ? 0 : 1;
  }
  for (std::uint32_t input = 0; input < shape.inputs(place.matrix); ++input) {
    std::uint32_t here = 0;
    for (const OutputRun& run : runs_of(shape, weights, place, input)) {
      here += run.count;
      ++tile.runs;
    }
    if (here == 0) continue;
    ++tile.inputs;
    tile.values += here;
    if (here != inside) most.whole = false;
  }
  most.inputs = std::max(most.inputs, tile.inputs);
  most.values = std::max(most.values, tile.values);
  most.runs = std::max(most.runs, tile.runs);
}

}  // namespace

void measure_tiles(const DecodeShape& shape, DecodeZeros& zeros) {
  for (std::size_t i = 0; i < kMatrices; ++i) {
    const auto matrix = static_cast<Matrix>(i);
    zeros.sizes.at(i) = {};
    if (!zeros.sparse(matrix)) continue;
    const bool has =
        projection_of(matrix) < Projection::up ? shape.block().attention : shape.block().ffn;
    if (!has) continue;
    const NonZeros& weights = zeros.weights.at(static_cast<std::size_t>(projection_of(matrix)));
    for (std::uint32_t row = 0; row < shape.block().rows; ++row) {
      for (std::uint32_t column = 0; column < shape.block().columns; ++column) {
        take_fullest(shape, weights, {matrix, row, column}, zeros.sizes.at(i));
      }
    }
    // whole inputs have all outputs, those of padding too
    if (zeros.sizes.at(i).whole) {
      zeros.sizes.at(i).values = zeros.sizes.at(i).inputs * shape.outputs(matrix);
    }
  }
}

}  // namespace lacuna::wse

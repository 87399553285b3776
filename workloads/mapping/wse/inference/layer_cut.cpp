// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/layer_cut.hpp"

namespace lacuna::wse {

std::uint32_t LayerCut::outputs(Matrix matrix) const {
  switch (matrix) {
    case Matrix::q:
      return q();
    case Matrix::k:
    case Matrix::v:
      return k();
    case Matrix::up:
      return 2 * f();
    case Matrix::o:
    case Matrix::down:
      break;
  }
  return d();
}

std::uint32_t LayerCut::input_of(Matrix matrix, std::uint32_t core, std::uint32_t i) const {
  if (matrix == Matrix::o) return query_feature(core, i);
  return matrix == Matrix::down ? inner_feature(core, i) : hidden_feature(core, i);
}

std::uint32_t LayerCut::output_of(Matrix matrix, std::uint32_t core, std::uint32_t i) const {
  const auto behind = [](std::uint32_t before, std::uint32_t feature) {
    return feature == kPadding ? feature : before + feature;
  };
  switch (matrix) {
    case Matrix::q:
      return query_feature(core, i);
    case Matrix::k:
      return behind(model_.heads * model_.head_dim, key_feature(core, i));
    case Matrix::v:
      return behind((model_.heads + model_.kv_heads) * model_.head_dim, key_feature(core, i));
    case Matrix::up:
      return behind(i < f() ? 0 : model_.ffn, inner_feature(core, i % f()));
    case Matrix::o:
    case Matrix::down:
      break;
  }
  return hidden_feature(core, i);
}

void find_fullest_tiles(const LayerCut& shape, DecodeZeros& zeros) {
  for (std::size_t i = 0; i < kMatrices; ++i) {
    const auto matrix = static_cast<Matrix>(i);
    const NonZeros& weights = zeros.weights_of(matrix);
    SparseTileSize& size = zeros.sizes.at(i);
    size = {};
    if (!weights.given()) continue;
    shape.any_tile(matrix, [&](const TileFeatures& tile) {
      size.cover(weights, tile);
      return false;
    });
    size.finish();
  }
}

}  // namespace lacuna::wse

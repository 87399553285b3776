// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_zeros.hpp"

#include <algorithm>

#include "models/sparsity/mask.hpp"

namespace lacuna::wse {

const char* word(Projection projection) {
  switch (projection) {
    case Projection::qkv:
      return "qkv";
    case Projection::o:
      return "o";
    case Projection::up:
      return "up";
    case Projection::down:
      return "down";
  }
  return "?";
}

const char* word(Matrix matrix) {
  switch (matrix) {
    case Matrix::q:
      return "q";
    case Matrix::k:
      return "k";
    case Matrix::v:
      return "v";
    case Matrix::o:
    case Matrix::up:
    case Matrix::down:
      return word(projection_of(matrix));
  }
  return "?";
}

Projection projection_of(Matrix matrix) {
  switch (matrix) {
    case Matrix::o:
      return Projection::o;
    case Matrix::up:
      return Projection::up;
    case Matrix::down:
      return Projection::down;
    case Matrix::q:
    case Matrix::k:
    case Matrix::v:
      break;
  }
  return Projection::qkv;
}

Matrix matrix_of(Projection projection) {
  switch (projection) {
    case Projection::o:
      return Matrix::o;
    case Projection::up:
      return Matrix::up;
    case Projection::down:
      return Matrix::down;
    case Projection::qkv:
      return Matrix::q;
  }
  return Matrix::q;
}

NonZeros::NonZeros(const Mask& mask)
    : rows_(mask.rows), cols_(mask.cols), bits_(std::size_t{mask.rows} * mask.cols) {
  for (std::uint32_t block_row = 0; block_row < mask.grid_rows(); ++block_row) {
    for (std::uint64_t i = mask.offsets[block_row]; i < mask.offsets[block_row + 1]; ++i) {
      const std::uint32_t first_row = block_row * mask.block_rows;
      const std::uint32_t first_col = mask.columns[i] * mask.block_cols;
      for (std::uint32_t row = first_row; row < std::min(rows_, first_row + mask.block_rows);
           ++row) {
        for (std::uint32_t col = first_col; col < std::min(cols_, first_col + mask.block_cols);
             ++col) {
          bits_[std::size_t{row} * cols_ + col] = true;
        }
      }
    }
  }
}

std::vector<OutputRun> runs_of(const NonZeros& weights, const TileFeatures& tile,
                               std::uint32_t input) {
  std::vector<OutputRun> runs;
  for (std::uint32_t i = 0; i < tile.outputs.size(); ++i) {
    if (!weights.at(tile.outputs[i], tile.inputs[input])) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == i) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1});
    }
  }
  return runs;
}

std::vector<OutputRun> stored_runs(const NonZeros& weights, const TileFeatures& tile,
                                   std::uint32_t input, bool whole) {
  std::vector<OutputRun> runs = runs_of(weights, tile, input);
  if (whole && !runs.empty()) return {{0, static_cast<std::uint32_t>(tile.outputs.size())}};
  return runs;
}

void SparseTileSize::cover(const NonZeros& weights, const TileFeatures& tile) {
  SparseTileSize here;
  const auto inside = static_cast<std::uint32_t>(
      std::count_if(tile.outputs.begin(), tile.outputs.end(),
                    [&](std::uint32_t feature) { return feature < weights.rows(); }));
  for (std::uint32_t input = 0; input < tile.inputs.size(); ++input) {
    std::uint32_t count = 0;
    for (const OutputRun& run : runs_of(weights, tile, input)) {
      count += run.count;
      ++here.runs;
    }
    if (count == 0) continue;
    ++here.inputs;
    here.values += count;
    if (count != inside) whole = false;
  }
  inputs = std::max(inputs, here.inputs);
  values = std::max(values, here.values);
  runs = std::max(runs, here.runs);
}

bool DecodeZeros::any_lists() const {
  for (std::size_t i = 0; i < kMatrices; ++i) {
    if (sparse(static_cast<Matrix>(i))) return true;
  }
  return false;
}

}  // namespace lacuna::wse

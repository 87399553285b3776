// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_zeros.hpp"

#include <algorithm>
#include <array>

#include "models/sparsity/mask.hpp"

namespace lacuna::wse {

const char* word(Projection projection) {
  constexpr std::array<const char*, kProjections> kWords = {"qkv", "o", "up", "down"};
  return kWords.at(static_cast<std::size_t>(projection));
}

const char* word(Matrix matrix) {
  constexpr std::array<const char*, kMatrices> kWords = {"q", "k", "v", "o", "up", "down"};
  return kWords.at(static_cast<std::size_t>(matrix));
}

Projection projection_of(Matrix matrix) {
  if (matrix < Matrix::o) return Projection::qkv;
  return matrix == Matrix::o    ? Projection::o
         : matrix == Matrix::up ? Projection::up
                                : Projection::down;
}

Matrix matrix_of(Projection projection) {
  constexpr std::array<Matrix, kProjections> kMatrix = {Matrix::q, Matrix::o, Matrix::up,
                                                        Matrix::down};
  return kMatrix.at(static_cast<std::size_t>(projection));
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

namespace {

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

}  // namespace

std::vector<std::vector<OutputRun>> stored_runs(const NonZeros& weights, const TileFeatures& tile,
                                                bool whole) {
  std::vector<std::vector<OutputRun>> all;
  for (std::uint32_t i = 0; i < tile.inputs.size(); ++i) {
    all.push_back(runs_of(weights, tile, i));
    if (whole && !all.back().empty()) {
      all.back() = {{0, static_cast<std::uint32_t>(tile.outputs.size())}};
    }
  }
  return all;
}

void SparseTileSize::cover(const NonZeros& weights, const TileFeatures& tile) {
  SparseTileSize here;
  outputs = static_cast<std::uint32_t>(tile.outputs.size());
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

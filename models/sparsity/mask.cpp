// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/mask.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace lacuna {

std::uint64_t Mask::nnz() const {
  std::uint64_t kept = 0;
  for (std::uint32_t r = 0; r < grid_rows(); ++r) {
    const std::uint64_t height = std::min(block_rows, rows - r * block_rows);
    for (std::uint64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
      kept += height * std::min(block_cols, cols - columns[i] * block_cols);
    }
  }
  return kept;
}

double Mask::density() const {
  const double all = static_cast<double>(rows) * static_cast<double>(cols);
  return all == 0 ? 0 : static_cast<double>(nnz()) / all;
}

Mask Mask::elements() const {
  Mask result;
  result.rows = rows;
  result.cols = cols;
  result.offsets.assign(1, 0);
  result.columns.reserve(nnz());
  for (std::uint32_t r = 0; r < rows; ++r) {
    const std::uint32_t grid_row = r / block_rows;
    for (std::uint64_t i = offsets[grid_row]; i < offsets[grid_row + 1]; ++i) {
      const std::uint32_t first = columns[i] * block_cols;
      for (std::uint32_t c = first; c < std::min(cols, first + block_cols); ++c) {
        result.columns.push_back(c);
      }
    }
    result.offsets.push_back(result.columns.size());
  }
  return result;
}

Mask Mask::blocked(std::uint32_t side_rows, std::uint32_t side_cols) const {
  const Mask fine = elements();
  Mask result;
  result.rows = rows;
  result.cols = cols;
  result.block_rows = side_rows;
  result.block_cols = side_cols;
  result.offsets.assign(1, 0);
  std::vector<std::uint32_t> kept;
  for (std::uint32_t r = 0; r < result.grid_rows(); ++r) {
    kept.clear();
    const std::uint32_t end = std::min(rows, (r + 1) * side_rows);
    for (std::uint64_t i = fine.offsets[std::size_t{r} * side_rows]; i < fine.offsets[end]; ++i) {
      kept.push_back(fine.columns[i] / side_cols);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    result.columns.insert(result.columns.end(), kept.begin(), kept.end());
    result.offsets.push_back(result.columns.size());
  }
  return result;
}

Mask Mask::transposed() const {
  Mask result;
  result.rows = cols;
  result.cols = rows;
  result.block_rows = block_cols;
  result.block_cols = block_rows;
  result.offsets.assign(grid_cols() + std::size_t{1}, 0);
  for (const std::uint32_t column : columns) ++result.offsets[column + std::size_t{1}];
  for (std::size_t c = 0; c < grid_cols(); ++c) result.offsets[c + 1] += result.offsets[c];
  result.columns.resize(columns.size());
  std::vector<std::uint64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (std::uint32_t r = 0; r < grid_rows(); ++r) {
    for (std::uint64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
      result.columns[next[columns[i]]++] = r;
    }
  }
  return result;
}

bool operator==(const Mask& a, const Mask& b) {
  return std::tie(a.rows, a.cols, a.block_rows, a.block_cols, a.offsets, a.columns) ==
         std::tie(b.rows, b.cols, b.block_rows, b.block_cols, b.offsets, b.columns);
}

Mask dense_mask(std::uint32_t rows, std::uint32_t cols, std::uint32_t block) {
  Mask result;
  result.rows = rows;
  result.cols = cols;
  result.block_rows = result.block_cols = block;
  result.offsets.assign(1, 0);
  for (std::uint32_t r = 0; r < result.grid_rows(); ++r) {
    for (std::uint32_t c = 0; c < result.grid_cols(); ++c) result.columns.push_back(c);
    result.offsets.push_back(result.columns.size());
  }
  return result;
}

}  // namespace lacuna

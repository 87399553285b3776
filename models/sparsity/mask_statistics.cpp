// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/mask_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace lacuna {
namespace {

constexpr std::uint32_t kHead = 64;   // rows or columns of one attention head
constexpr std::uint32_t kBands = 64;  // of rows

using Counts = std::vector<std::uint64_t>;

// The index of the part of [0, size) in which `at` lies, if part i begins at floor(i size / parts).
std::uint32_t part_of(std::uint64_t at, std::uint64_t parts, std::uint64_t size) {
  return static_cast<std::uint32_t>(((at + 1) * parts - 1) / size);
}

std::optional<double> largest_over_mean(const Counts& counts) {
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (sum == 0) return std::nullopt;
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) *
         static_cast<double>(counts.size()) / static_cast<double>(sum);
}

std::optional<double> variation(const Counts& counts) {
  const auto size = static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint64_t count : counts) sum += static_cast<double>(count);
  if (sum == 0) return std::nullopt;
  const double mean = sum / size;
  double squares = 0;
  for (const std::uint64_t count : counts) {
    const double off = static_cast<double>(count) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / size) / mean;
}

// The sums over groups of `size` counts; the last group may be smaller.
Counts grouped(const Counts& counts, std::uint32_t size) {
  Counts sums((counts.size() + size - 1) / size, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) sums[i / size] += counts[i];
  return sums;
}

// Pearson's, of each count and the next one.
std::optional<double> correlation(const Counts& counts) {
  if (counts.size() < 3) return std::nullopt;
  const std::size_t pairs = counts.size() - 1;
  double mean_a = 0;
  double mean_b = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    mean_a += static_cast<double>(counts[i]) / static_cast<double>(pairs);
    mean_b += static_cast<double>(counts[i + 1]) / static_cast<double>(pairs);
  }
  double both = 0;
  double only_a = 0;
  double only_b = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double a = static_cast<double>(counts[i]) - mean_a;
    const double b = static_cast<double>(counts[i + 1]) - mean_b;
    both += a * b;
    only_a += a * a;
    only_b += b * b;
  }
  // A constant sequence leaves at most rounding errors of its mean.
  constexpr double kNothing = 1e-9;
  if (only_a < kNothing || only_b < kNothing) return std::nullopt;
  return both / std::sqrt(only_a * only_b);
}

std::optional<double> violations(const Mask& elements) {
  const std::uint64_t groups = (std::uint64_t{elements.cols} + 3) / 4 * elements.rows;
  if (groups == 0) return std::nullopt;
  std::uint64_t violated = 0;
  for (std::uint32_t r = 0; r < elements.rows; ++r) {
    std::uint64_t i = elements.offsets[r];
    while (i < elements.offsets[r + 1]) {
      const std::uint32_t group = elements.columns[i] / 4;
      std::uint64_t in_group = 0;
      for (; i < elements.offsets[r + 1] && elements.columns[i] / 4 == group; ++i) ++in_group;
      if (in_group > 2) ++violated;
    }
  }
  return static_cast<double>(violated) / static_cast<double>(groups);
}

std::optional<double> imbalance_of(const Mask& elements, std::uint32_t grid_rows,
                                   std::uint32_t grid_cols) {
  Counts cells(std::size_t{grid_rows} * grid_cols, 0);
  std::vector<std::uint32_t> cell_of_column(elements.cols);
  for (std::uint32_t c = 0; c < elements.cols; ++c) {
    cell_of_column[c] = part_of(c, grid_cols, elements.cols);
  }
  for (std::uint32_t r = 0; r < elements.rows; ++r) {
    const std::size_t first = std::size_t{part_of(r, grid_rows, elements.rows)} * grid_cols;
    for (std::uint64_t i = elements.offsets[r]; i < elements.offsets[r + 1]; ++i) {
      ++cells[first + cell_of_column[elements.columns[i]]];
    }
  }
  return largest_over_mean(cells);
}

std::optional<double> occupancy_of(const Mask& elements, std::uint32_t side) {
  const Mask blocks = elements.blocked(side, side);
  const std::uint64_t grid = std::uint64_t{blocks.grid_rows()} * blocks.grid_cols();
  if (grid == 0) return std::nullopt;
  return static_cast<double>(blocks.blocks()) / static_cast<double>(grid);
}

std::uint64_t zeros(const Counts& counts) {
  return static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), 0U));
}

}  // namespace

std::optional<double> imbalance(const Mask& mask, std::uint32_t grid_rows,
                                std::uint32_t grid_cols) {
  return imbalance_of(mask.elements(), grid_rows, grid_cols);
}

MaskStatistics mask_statistics(const Mask& mask) {
  const Mask elements = mask.elements();
  Counts by_row(elements.rows, 0);
  Counts by_col(elements.cols, 0);
  for (std::uint32_t r = 0; r < elements.rows; ++r) {
    by_row[r] = elements.offsets[r + 1] - elements.offsets[r];
  }
  for (const std::uint32_t c : elements.columns) ++by_col[c];
  MaskStatistics result;
  result.nnz = elements.columns.size();
  result.empty_rows = zeros(by_row);
  result.empty_cols = zeros(by_col);
  result.imbalance_8 = imbalance_of(elements, 8, 8);
  result.imbalance_16 = imbalance_of(elements, 16, 16);
  result.imbalance_32 = imbalance_of(elements, 32, 32);
  result.row_bands = imbalance_of(elements, kBands, 1);
  result.occupancy_4 = occupancy_of(elements, 4);
  result.occupancy_16 = occupancy_of(elements, 16);
  result.violations_2_4 = violations(elements);
  result.row_cv = variation(by_row);
  result.col_cv = variation(by_col);
  result.row_head_cv = variation(grouped(by_row, kHead));
  result.col_head_cv = variation(grouped(by_col, kHead));
  result.neighbour_correlation = correlation(by_row);
  return result;
}

}  // namespace lacuna

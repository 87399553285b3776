// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/block_loads.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::wse {
namespace {

constexpr std::uint32_t kSampledRows = 128;  // of blocks

}  // namespace

double BlockLoads::fullest(std::uint32_t columns, bool dealt, double rows) const {
  const double blocks = std::clamp(std::round(rows / mask_.block_rows), 1.0, 1.0 * kSampledRows);
  const auto window = std::min(static_cast<std::uint32_t>(blocks), mask_.grid_rows());
  const auto [at, is_new] = known_.try_emplace({columns, dealt, window}, 0);
  if (is_new) at->second = count(columns, dealt, window);
  return at->second;
}

double BlockLoads::count(std::uint32_t columns, bool dealt, std::uint32_t rows) const {
  const auto each = static_cast<std::uint32_t>(ceil_div(mask_.cols, columns));
  const std::uint32_t windows = std::max(1U, std::min(mask_.grid_rows(), kSampledRows) / rows);
  const std::uint32_t step = std::max(1U, (mask_.grid_rows() - rows) / windows);
  std::vector<std::uint32_t> load(columns);
  double sum = 0;
  for (std::uint32_t w = 0; w < windows; ++w) {
    std::fill(load.begin(), load.end(), 0);
    const std::uint32_t first = std::min(w * step, mask_.grid_rows() - rows);
    for (std::uint64_t i = mask_.offsets[first]; i < mask_.offsets[first + rows]; ++i) {
      const std::uint32_t begin = mask_.columns[i] * mask_.block_cols;
      const std::uint32_t end = std::min(begin + mask_.block_cols, mask_.cols);
      std::uint32_t column = dealt ? begin % columns : begin / each;
      for (std::uint32_t j = begin; j < end;) {
        const std::uint32_t count = dealt ? 1 : std::min(end, (column + 1) * each) - j;
        load[column] += count;
        j += count;
        if (++column == columns) column = 0;
      }
    }
    sum += *std::max_element(load.begin(), load.end());
  }
  return sum / windows / rows;
}

}  // namespace lacuna::wse

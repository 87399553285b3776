// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/balance.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace lacuna::wse {

double column_balance(const StreamingKernel& kernel, std::uint32_t rows) {
  const std::size_t columns = kernel.ring.size();
  std::uint64_t all = 0;
  std::uint64_t heaviest = 0;
  std::vector<std::uint64_t> block(columns, 0);
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    for (std::size_t c = 0; c < columns; ++c) block[c] += kernel.count(s, c);
    if ((s + 1) % rows != 0 && s + 1 != kernel.steps) continue;
    all += std::accumulate(block.begin(), block.end(), std::uint64_t{0});
    heaviest += *std::max_element(block.begin(), block.end());
    std::fill(block.begin(), block.end(), 0);
  }
  if (heaviest == 0) return 1;
  return static_cast<double>(all) / static_cast<double>(columns) / static_cast<double>(heaviest);
}

}  // namespace lacuna::wse

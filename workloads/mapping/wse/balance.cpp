// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/balance.hpp"

#include <algorithm>
#include <cmath>
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

double expected_balance(std::uint32_t columns, std::uint32_t features, double density,
                        std::uint32_t rows) {
  // The largest of independent binomials: E = sum over w of 1 - P(a column has at most w)^columns.
  const std::uint64_t all = std::uint64_t{features} * rows;
  const auto n = static_cast<double>(all);
  double at_most = 0;
  double largest = 0;
  for (std::uint64_t i = 0; i < all; ++i) {
    const auto w = static_cast<double>(i);
    const double log_p = std::lgamma(n + 1) - std::lgamma(w + 1) - std::lgamma(n - w + 1) +
                         w * std::log(density) + (n - w) * std::log1p(-density);
    at_most = std::min(1.0, at_most + std::exp(log_p));
    largest += 1 - std::pow(at_most, columns);
  }
  return n * density / largest;
}

}  // namespace lacuna::wse

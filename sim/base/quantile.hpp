// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lacuna {

/// The value below which a share of the sorted `values` lies, linearly between neighbours. With 0.5
/// it is the median, of an even number the mean of the two in the middle. 0 of none.
inline double quantile(const std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace lacuna

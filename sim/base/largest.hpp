// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lacuna {

/// The largest number below `high` that fits; `low` does, and all below one that does.
template <typename Number, typename Fits>
Number largest(Number low, Number high, const Fits& fits) {
  while (high - low > 1) {
    const Number middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lacuna::system {

/// A rate of 10^9 bytes a second in whole bytes a microsecond, at least 1.
inline std::uint64_t bytes_per_us(double gbps) {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(gbps * 1000)), 1);
}

}  // namespace lacuna::system

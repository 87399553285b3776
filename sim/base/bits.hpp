// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna {

/// How many bits are set.
inline unsigned bit_count(std::uint64_t x) {
  x -= (x >> 1U) & 0x5555555555555555U;
  x = (x & 0x3333333333333333U) + ((x >> 2U) & 0x3333333333333333U);
  x = (x + (x >> 4U)) & 0x0f0f0f0f0f0f0f0fU;
  return static_cast<unsigned>((x * 0x0101010101010101U) >> 56U);
}

/// How many bits it takes to write the number.
inline unsigned bit_width(std::uint64_t x) {
  unsigned width = 0;
  for (; x != 0; x >>= 1U) ++width;
  return width;
}

}  // namespace lacuna

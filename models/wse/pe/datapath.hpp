// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna::wse {

/// Residual stalls of a multiply-accumulate in place, `stalls` of them in 16 elements: the s-th,
/// from 1 on, comes after so many elements of each 16. With 3 these are 5, 10 and 15 (spec of the
/// FP32 instruction: 19 cycles for 16 elements). A beat that meets a conflict has none: the write
/// that would have met a read is over by then.
constexpr std::uint32_t residual_place(std::uint32_t s, std::uint32_t stalls) {
  return 15 * s / stalls;
}

/// The residual stalls of the first `elements` elements of an instruction.
constexpr std::uint32_t residual_stalls(std::uint32_t elements, std::uint32_t stalls) {
  std::uint32_t sum = elements / 16 * stalls;
  for (std::uint32_t s = 1; s <= stalls; ++s) {
    if (residual_place(s, stalls) <= elements % 16) ++sum;
  }
  return sum;
}

}  // namespace lacuna::wse

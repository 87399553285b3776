// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace lacuna {

/// The bits of an 8-bit float with 4 exponent bits, 3 mantissa bits and a bias of 8. It goes from
/// 2^-10 to 240, has no infinity, and 0x80 is NaN. This is F143 without scaling (Noune et al.,
/// "8-bit numerical formats for deep neural networks", arXiv:2206.02915).
using Quarter = std::uint8_t;

/// Exact.
inline float from_quarter(Quarter bits) {
  if (bits == 0x80U) return std::nanf("");
  const auto exponent = static_cast<int>((bits >> 3U) & 0xfU);
  const auto mantissa = static_cast<int>(bits & 7U);
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -10)
                              : std::ldexp(static_cast<float>(8 + mantissa), exponent - 11);
  return (bits & 0x80U) != 0 ? -magnitude : magnitude;
}

/// Rounds to nearest, ties to even; what is too large, and NaN, becomes NaN.
inline Quarter to_quarter(float value) {
  if (!(std::fabs(value) < 248.0F)) return 0x80U;  // half a place above the largest
  const float magnitude = std::fabs(value);
  int exponent = 0;
  if (magnitude >= 0x1p-7F) exponent = std::ilogb(magnitude) + 8;  // normal: 2^-7 and above
  const int place = exponent == 0 ? -10 : exponent - 11;
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -place)));
  // a carry out of the mantissa raises the exponent
  const unsigned bits =
      exponent == 0 ? steps : (static_cast<unsigned>(exponent) << 3U) + steps - 8U;
  const bool negative = std::signbit(value) && bits != 0;  // there is no negative zero
  return static_cast<Quarter>(bits | (negative ? 0x80U : 0U));
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace lacuna {

/// The bits of an IEEE 754 binary16 number. Arithmetic is done in float and rounded back, which
/// for one addition or multiplication gives the correctly rounded result.
using Half = std::uint16_t;

namespace detail {

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Shifts right by `shift` < 32 and rounds to nearest, ties to even.
inline std::uint32_t shift_round(std::uint32_t x, unsigned shift) {
  const std::uint32_t kept = x >> shift;
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t rest = x & ((1U << shift) - 1);
  const bool up = rest > half || (rest == half && (kept & 1U) != 0);
  return kept + (up ? 1U : 0U);
}

}  // namespace detail

/// Rounds to nearest, ties to even; too large becomes infinity, NaN stays a (quiet) NaN.
inline Half to_half(float value) {
  const std::uint32_t bits = detail::bits_of(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<Half>(sign | 0x7e00U);
  if (magnitude >= 0x47800000U) return static_cast<Half>(sign | 0x7c00U);  // 65536 and above
  if (magnitude >= 0x38800000U) {
    // Normal: a carry out of the mantissa raises the exponent, up to infinity.
    return static_cast<Half>(sign | detail::shift_round(magnitude - 0x38000000U, 13));
  }
  if (magnitude < 0x33000000U) return static_cast<Half>(sign);  // below half the least subnormal
  const std::uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  return static_cast<Half>(sign | detail::shift_round(mantissa, 126U - (magnitude >> 23U)));
}

/// Exact.
inline float to_float(Half half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t exponent = (half >> 10U) & 0x1fU;
  const std::uint32_t mantissa = half & 0x3ffU;
  if (exponent == 0x1f) return detail::float_of(sign | 0x7f800000U | (mantissa << 13U));
  if (exponent != 0) return detail::float_of(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

inline Half add(Half a, Half b) { return to_half(to_float(a) + to_float(b)); }
inline Half multiply(Half a, Half b) { return to_half(to_float(a) * to_float(b)); }

}  // namespace lacuna

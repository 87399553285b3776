// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lacuna {

/// A decimal as written: mantissa / 10^digits, digits <= 18. Densities are kept so, because the
/// number of non-zeros is computed from them in integers.
struct Decimal {
  std::uint64_t mantissa = 0;
  unsigned digits = 0;

  double value() const;
  std::string text() const;
};

bool operator==(const Decimal& a, const Decimal& b);

/// Why a text is no fraction.
enum class DecimalError {
  none,
  not_a_decimal,  // anything but digits with at most one point and an exponent
  out_of_range,   // a decimal, but not in [0, 1]
};

/// Reads a fraction in [0, 1] from `text`, without what is behind the 18th decimal; sets `result`.
DecimalError parse_fraction(std::string_view text, Decimal& result);

/// How a fraction of positions becomes a whole number of them.
enum class Rounding { floor, ceil, nearest };

/// `fraction` of `positions`, exactly, in integers; nearest rounds halves up.
std::uint64_t count_of(const Decimal& fraction, std::uint64_t positions,
                       Rounding rounding = Rounding::floor);

}  // namespace lacuna

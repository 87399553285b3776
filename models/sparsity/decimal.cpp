// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lacuna {
namespace {

constexpr unsigned kMostDigits = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::uint64_t power_of_ten(unsigned exponent) {
  std::uint64_t power = 1;
  for (unsigned i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace

double Decimal::value() const {
  return static_cast<double>(mantissa) / std::pow(10.0, static_cast<double>(digits));
}

std::string Decimal::text() const {
  std::string all = fmt::format("{:0{}}", mantissa, digits + 1);
  if (digits == 0) return all;
  all.insert(all.size() - digits, ".");
  while (all.back() == '0') all.pop_back();
  if (all.back() == '.') all.pop_back();
  return all;
}

bool operator==(const Decimal& a, const Decimal& b) {
  return a.mantissa * power_of_ten(kMostDigits - a.digits) ==
         b.mantissa * power_of_ten(kMostDigits - b.digits);
}

DecimalError parse_fraction(std::string_view text, Decimal& result) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view part;
  if (point != std::string_view::npos) {
    part = text.substr(point + 1);
    if (!all_digits(part) || part.size() > kMostDigits) return DecimalError::not_a_decimal;
  }
  // A point may stand in front, but not alone and not behind.
  if (!all_digits(whole) && !(whole.empty() && !part.empty())) return DecimalError::not_a_decimal;
  const std::size_t first = std::min(whole.find_first_not_of('0'), whole.size());
  if (whole.size() - first > 1) return DecimalError::out_of_range;
  Decimal read;
  read.digits = static_cast<unsigned>(part.size());
  for (const char c : whole.substr(first)) read.mantissa = static_cast<unsigned>(c - '0');
  for (const char c : part) read.mantissa = read.mantissa * 10 + static_cast<unsigned>(c - '0');
  if (read.mantissa > power_of_ten(read.digits)) return DecimalError::out_of_range;
  if (negative && read.mantissa != 0) return DecimalError::out_of_range;
  result = read;
  return DecimalError::none;
}

std::uint64_t count_of(const Decimal& fraction, std::uint64_t positions, Rounding rounding) {
  const std::uint64_t scale = power_of_ten(fraction.digits);
  // Split at the scale, so that no product leaves 64 bits.
  const std::uint64_t rest = fraction.mantissa * (positions % scale);
  const std::uint64_t count = fraction.mantissa * (positions / scale) + rest / scale;
  const std::uint64_t remainder = rest % scale;
  if (rounding == Rounding::ceil) return count + (remainder != 0 ? 1 : 0);
  if (rounding == Rounding::nearest) return count + (2 * remainder >= scale ? 1 : 0);
  return count;
}

}  // namespace lacuna

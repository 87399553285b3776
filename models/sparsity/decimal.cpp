// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lacuna {
namespace {

constexpr unsigned kMostDigits = 18;
__extension__ using Wide = unsigned __int128;  // mantissas times scales do not fit 64 bits

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
  return Wide{a.mantissa} * power_of_ten(kMostDigits - a.digits) ==
         Wide{b.mantissa} * power_of_ten(kMostDigits - b.digits);
}

DecimalError parse_fraction(std::string_view text, Decimal& result) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  int exponent = 0;
  if (mark != text.size()) {
    const std::string_view power =
        text.substr(mark + 1 + (text.substr(mark + 1, 1) == "+" ? 1 : 0));
    const char* const end = power.data() + power.size();
    const auto [stop, error] = std::from_chars(power.data(), end, exponent);
    constexpr int kMostExponent = 99;
    const bool right = error == std::errc() && stop == end && std::abs(exponent) <= kMostExponent;
    if (!right) return DecimalError::not_a_decimal;
  }
  const std::string_view number = text.substr(0, mark);
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view part = number.substr(std::min(point + 1, number.size()));
  // A point may stand in front, but not alone and not behind.
  std::string digits = std::string(number.substr(0, point)) + std::string(part);
  const bool ends = point == number.size() || !part.empty();
  if (!all_digits(digits) || !ends) return DecimalError::not_a_decimal;
  int decimals = static_cast<int>(part.size()) - exponent;
  for (; decimals < 0; ++decimals) digits += '0';
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (static_cast<int>(digits.size()) > decimals + 1) return DecimalError::out_of_range;
  const bool over = static_cast<int>(digits.size()) == decimals + 1 &&
                    digits != "1" + std::string(static_cast<std::size_t>(decimals), '0');
  if (over || (negative && !digits.empty())) return DecimalError::out_of_range;
  for (; decimals > static_cast<int>(kMostDigits); --decimals) {
    if (!digits.empty()) digits.pop_back();
  }
  result = {0, static_cast<unsigned>(decimals)};
  for (const char c : digits) {
    result.mantissa = result.mantissa * 10 + static_cast<unsigned>(c - '0');
  }
  return DecimalError::none;
}

std::uint64_t count_of(const Decimal& fraction, std::uint64_t positions, Rounding rounding) {
  const std::uint64_t scale = power_of_ten(fraction.digits);
  const Wide all = Wide{fraction.mantissa} * positions;
  const auto count = static_cast<std::uint64_t>(all / scale);
  const auto remainder = static_cast<std::uint64_t>(all % scale);
  if (rounding == Rounding::ceil) return count + (remainder != 0 ? 1 : 0);
  if (rounding == Rounding::nearest) return count + (2 * remainder >= scale ? 1 : 0);
  return count;
}

}  // namespace lacuna

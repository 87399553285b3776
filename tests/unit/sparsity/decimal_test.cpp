// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/decimal.hpp"

#include <gtest/gtest.h>

#include <array>

namespace lacuna {
namespace {

Decimal fraction(const char* text) {
  Decimal result;
  EXPECT_EQ(parse_fraction(text, result), DecimalError::none) << text;
  return result;
}

DecimalError error_of(const char* text) {
  Decimal result;
  return parse_fraction(text, result);
}

TEST(Decimal, CountsPositionsInIntegersSoThatNoBinaryFractionRoundsThemDown) {
  // 0.29 * 100 is 28.999999999999996 in floating point.
  EXPECT_EQ(count_of(fraction("0.29"), 100), 29U);
  EXPECT_EQ(count_of(fraction("0.1"), 1U << 31U), 214748364U);
  EXPECT_EQ(count_of(fraction("0.999999999"), std::uint64_t{1} << 62U), 4611686013815701885U);
}

TEST(Decimal, RoundsPositionsDownUpOrToTheNearest) {
  const auto counts = [](const char* density, std::uint64_t positions) {
    const Decimal d = fraction(density);
    return std::array<std::uint64_t, 3>{count_of(d, positions, Rounding::floor),
                                        count_of(d, positions, Rounding::ceil),
                                        count_of(d, positions, Rounding::nearest)};
  };
  using Counts = std::array<std::uint64_t, 3>;
  EXPECT_EQ(counts("0.1", 262144), (Counts{26214, 26215, 26214}));  // 26214.4
  EXPECT_EQ(counts("0.2", 16384), (Counts{3276, 3277, 3277}));      // 3276.8
  EXPECT_EQ(counts("0.1", 2304), (Counts{230, 231, 230}));          // 230.4
  EXPECT_EQ(counts("0.5", 5), (Counts{2, 3, 3}));                   // 2.5: halves go up
  EXPECT_EQ(counts("1", 7), (Counts{7, 7, 7}));
  EXPECT_EQ(counts("0", 7), (Counts{0, 0, 0}));
}

TEST(Decimal, IsReadAsWritten) {
  EXPECT_EQ(fraction("0.0625").text(), "0.0625");
  EXPECT_EQ(fraction("0.50").text(), "0.5");
  EXPECT_EQ(fraction(".5").value(), 0.5);
  EXPECT_EQ(fraction("1.000000000").text(), "1");
  EXPECT_TRUE(fraction("0.5") == fraction("0.500"));
}

// Programs print densities with an exponent, or with all 17 digits that a double may need.
TEST(Decimal, IsReadAsProgramsPrintIt) {
  EXPECT_EQ(fraction("1e-3").text(), "0.001");
  EXPECT_EQ(fraction("2.5E-05").text(), "0.000025");
  EXPECT_EQ(fraction("10e-1").text(), "1");
  EXPECT_EQ(fraction("0.01e+1").text(), "0.1");
  EXPECT_EQ(fraction("0.3333333333333333").text(), "0.3333333333333333");
  EXPECT_EQ(count_of(fraction("0.3333333333333333"), 3000000000000000000U), 999999999999999900U);
  EXPECT_EQ(fraction("0.1234567890123456789").text(), "0.123456789012345678");  // 18 of them
  EXPECT_EQ(fraction("1e-30").text(), "0");
  EXPECT_TRUE(fraction("5e-1") == fraction("0.500000000000000000"));
}

TEST(Decimal, RefusesWhatIsNoDecimalOrOutsideZeroAndOne) {
  for (const char* text : {"", ".", "1.", "nan", "inf", "50%", "0,5", "1e", "+0.5", "0x1", "0. 5",
                           "1e-0.5", "e-3", "--1", "-"}) {
    EXPECT_EQ(error_of(text), DecimalError::not_a_decimal) << text;
  }
  for (const char* text : {"1.25", "-0.5", "2", "99999999999999999999", "1.000000001", "1e1",
                           "1.0000000000000000001"}) {
    EXPECT_EQ(error_of(text), DecimalError::out_of_range) << text;
  }
}

}  // namespace
}  // namespace lacuna

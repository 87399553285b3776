// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/pattern_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;

// "LINE:COLUMN CODE" of the problem of a file, or "" if it has none.
template <class Parse>
std::string problem(Parse parse, const std::string& text) {
  try {
    parse(text, "f");
  } catch (const TraceError& error) {
    const std::string message = error.what();
    const std::size_t colon = message.find(": error ");
    return message.substr(2, colon - 2) + " " + message.substr(colon + 8, 4);
  }
  return "";
}

std::string smtx(const std::string& text) { return problem(parse_smtx, text); }
std::string mtx(const std::string& text) { return problem(parse_mtx, text); }
std::string entries(const std::string& sizes_and_entries,
                    const std::string& kind = "real general") {
  return mtx("%%MatrixMarket matrix coordinate " + kind + "\n" + sizes_and_entries);
}

TEST(Smtx, HoldsOffsetsAndIndices) {
  const Mask mask = parse_smtx("3, 4, 4\n0 2 2 4\n0 2 1 3\n", "f").mask;
  EXPECT_EQ(mask.rows, 3U);
  EXPECT_EQ(mask.cols, 4U);
  EXPECT_THAT(mask.offsets, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(mask.columns, ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(format_smtx(mask), "3, 4, 4\n0 2 2 4\n0 2 1 3\n");
}

TEST(Smtx, TakesOtherBlanksLineEndsAndEmptyMatrices) {
  EXPECT_EQ(smtx("3 4 4\r\n0  2 2 4 \r\n0 2\t1 3"), "");
  EXPECT_EQ(smtx("3,4,4\n0 2 2 4\n0 2 1 3"), "");
  EXPECT_EQ(smtx("2, 2, 0\n0 0 0\n\n"), "");
  EXPECT_EQ(smtx("2, 2, 0\n0 0 0"), "");
}

TEST(Smtx, RefusesWhatIsNotThere) {
  EXPECT_EQ(smtx(""), "1:1 E301");
  EXPECT_EQ(smtx("3, 4\n"), "1:5 E301");
  EXPECT_EQ(smtx("3, 4, 5, 6\n"), "1:10 E301");
  EXPECT_EQ(smtx("3, x, 4\n0 2 2 4\n0 2 1 3\n"), "1:4 E301");
  EXPECT_EQ(smtx("0, 4, 0\n0\n\n"), "1:1 E301");
  EXPECT_EQ(smtx("3, 4, 4\n"), "1:8 E302");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2\n0 2 1 3\n"), "2:6 E302");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4 4\n0 2 1 3\n"), "2:9 E302");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n0 2 1\n"), "3:6 E302");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n0 2 1 3 3\n"), "3:9 E302");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n"), "2:8 E302");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n0 2 1 3\n7\n"), "4:1 E302");
  EXPECT_EQ(smtx("3, 4, 4\n1 2 2 4\n0 2 1 3\n"), "2:1 E303");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 1 4\n0 2 1 3\n"), "2:5 E303");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 3\n0 2 1 3\n"), "2:8 E303");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 5\n0 2 1 3\n"), "2:7 E303");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n0 2 1 4\n"), "3:7 E304");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n0 -2 1 3\n"), "3:3 E304");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n2 0 1 3\n"), "3:3 E305");
  EXPECT_EQ(smtx("3, 4, 4\n0 2 2 4\n0 2 3 3\n"), "3:7 E305");
}

TEST(Smtx, DoesNotBelieveAbsurdSizes) {
  EXPECT_EQ(smtx("2147483647, 2147483647, 4611686014132420609\n0 1\n0\n"), "2:4 E302");
  EXPECT_EQ(smtx("2147483648, 1, 0\n0\n\n"), "1:1 E301");
  EXPECT_EQ(smtx("1, 99999999999999999999, 0\n0 0\n\n"), "1:4 E301");
}

TEST(Mtx, CountsFromOneInAnyOrder) {
  const PatternFile file = parse_mtx(
      "%%MatrixMarket matrix coordinate real general\n% note\n\n3 4 4\n3 4 1e-3\n1 3 0\n1 1 "
      "-2.5\n3 2 +7\n",
      "f");
  EXPECT_THAT(file.mask.offsets, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(file.mask.columns, ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(file.explicit_zeros, 1U);
}

TEST(Mtx, MirrorsSymmetricMatrices) {
  const Mask mask =
      parse_mtx("%%matrixmarket MATRIX Coordinate Pattern Symmetric\n3 3 2\n2 2\n3 1\n", "f").mask;
  EXPECT_THAT(mask.offsets, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(mask.columns, ElementsAre(2, 1, 0));
  EXPECT_EQ(entries("3 3 1\n2 1 4\n", "real skew-symmetric"), "");
  EXPECT_EQ(entries("3 3 1\n2 2 4\n", "real skew-symmetric"), "3:6 E308");
  EXPECT_EQ(entries("3 4 1\n2 2 4\n", "real symmetric"), "2:6 E301");
}

TEST(Mtx, ReadsArraysColumnByColumn) {
  const PatternFile file =
      parse_mtx("%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n", "f");
  EXPECT_THAT(file.mask.columns, ElementsAre(0, 1, 1));  // 1 3 / 0 4
  EXPECT_EQ(file.explicit_zeros, 0U);
  EXPECT_EQ(mtx("%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n"), "5:2 E309");
  EXPECT_EQ(parse_mtx("%%MatrixMarket matrix array real skew-symmetric\n2 2\n1\n", "f").mask.nnz(),
            2U);
}

TEST(Mtx, RefusesWhatIsNotThere) {
  EXPECT_EQ(mtx(""), "1:1 E307");
  EXPECT_EQ(mtx("%%MatrixMarket vector coordinate real general\n"), "1:16 E307");
  EXPECT_EQ(mtx("%%MatrixMarket matrix coordinate complex general\n1 1 0\n"), "1:34 E307");
  EXPECT_EQ(mtx("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n"), "1:39 E307");
  EXPECT_EQ(entries(""), "1:46 E301");
  EXPECT_EQ(entries("3 3\n"), "2:4 E301");
  EXPECT_EQ(entries("0 3 0\n"), "2:1 E301");
  EXPECT_EQ(entries("3 3 1\n0 1 1\n"), "3:1 E304");
  EXPECT_EQ(entries("3 3 1\n1 4 1\n"), "3:3 E304");
  EXPECT_EQ(entries("3 3 2\n1 1 1\n1 1 2\n"), "4:1 E306");
  EXPECT_EQ(entries("3 3 1\n1 1\n"), "3:4 E308");
  EXPECT_EQ(entries("3 3 1\n1 1 x\n"), "3:5 E308");
  EXPECT_EQ(entries("3 3 1\n1 1 nan\n"), "3:5 E308");
  EXPECT_EQ(entries("3 3 1\n1 1 2 3\n"), "3:7 E308");
  EXPECT_EQ(entries("3 3 1\n1.5 1 2\n"), "3:1 E308");
  EXPECT_EQ(entries("3 3 2\n1 1 2\n"), "3:6 E309");
  EXPECT_EQ(entries("3 3 1\n1 1 2\n1 2 2\n"), "4:1 E309");
}

TEST(Mtx, DoesNotBelieveAbsurdSizes) {
  EXPECT_EQ(entries("2147483647 2147483647 1\n1 1 1\n"), "2:24 E301");
  EXPECT_EQ(entries("9 9 4000000000\n1 1 1\n"), "2:15 E309");
}

}  // namespace
}  // namespace lacuna

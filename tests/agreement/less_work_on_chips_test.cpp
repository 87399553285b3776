// SPDX-License-Identifier: Apache-2.0
// Batches and functions of layers are laid out by a rule of our own: less work is not to cost more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

/// Cycles of a row, as its cells op, fn, phase, m, k, n, batch say, on a few tiles of a `bow`.
double cycles_of(unsigned tiles, const std::string& cells) {
  const TempFile trace("id,op,fn,phase,m,k,n,batch\na," + cells + "\n");
  const auto rows = numbers_of({"run", "--machine", "bow", "--set",
                                "ipu.tiles=" + std::to_string(tiles), "--trace", trace.path()});
  return rows.at(0).values.at("cycles").value();
}

// Three groups of four tiles work beside each other as four groups do. One product after another on
// all 16 tiles took 7,695 cycles: what is never added up was reckoned as sent.
TEST(LessWorkOnChips, ThreeProductsOfABatchTakeNoLongerThanFour) {
  const double four = cycles_of(16, "bmm,,fwd,384,16,128,4");
  EXPECT_LE(cycles_of(16, "bmm,,fwd,384,16,128,3"), 1.02 * four);
}

// Of 97 columns a tile has 13, and two go to each of its six workers. Spread over all of them, the
// 13th takes 11 of 64 vectors and a second launch. A third round of whole ones took half as long
// again.
TEST(LessWorkOnChips, AColumnMoreThanTheWorkersShareCostsLessThanARound) {
  const double even = cycles_of(8, "rmsnorm,,fwd,256,,96,");
  EXPECT_LE(cycles_of(8, "rmsnorm,,fwd,256,,97,"), 1.2 * even);
}

// Sums of columns meet only where tiles share the columns: 97 rows cut for 8 tiles took 2,239
// cycles, where 160 rows took 1,407.
TEST(LessWorkOnChips, SumsOfColumnsMeetOnlyWhereThatIsSooner) {
  const double more = cycles_of(8, "eltwise,bias,bwd,160,,128,");
  EXPECT_LE(cycles_of(8, "eltwise,bias,bwd,97,,128,"), 1.02 * more);
}

TEST(LessWorkOnChips, FewerRowsAndProductsAreNoSlower) {
  for_each_draw([](Random& random) {
    const unsigned tiles = pick<unsigned>(random, {4, 8, 16, 30});
    const auto side = [&] { return 8 * upto(random, 24); };
    const std::string function = pick<std::string>(
        random,
        {"rmsnorm,,fwd", "layernorm,,fwd", "softmax,,fwd", "softmax,,bwd", "eltwise,bias,bwd"});
    const std::uint64_t m = side();
    const std::uint64_t n = side();
    const std::string cells = fmt::format("{},{{}},,{},", function, n);
    const std::string batch = fmt::format("bmm,,fwd,{},{},{},", m, side(), n);
    const std::uint64_t products = upto(random, 8);
    // A plan is chosen by an estimate, which is up to a sixth off.
    constexpr double kEstimate = 1.2;
    EXPECT_LE(cycles_of(tiles, fmt::format(cells, m)),
              kEstimate * cycles_of(tiles, fmt::format(cells, m + 8 * upto(random, 24))))
        << tiles << " tiles: " << m << " of " << cells;
    EXPECT_LE(cycles_of(tiles, batch + std::to_string(products)),
              kEstimate * cycles_of(tiles, batch + std::to_string(products + 1)))
        << tiles << " tiles: " << batch << products;
  });
}

}  // namespace
}  // namespace lacuna::test

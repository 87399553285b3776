// SPDX-License-Identifier: Apache-2.0
// Random streamed products and gradients on random hardware: what the documents say against both
// engines and every way that `event` has.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "tests/support/wse/random_streams.hpp"
#include "tests/support/wse/task_comparison.hpp"

namespace lacuna::wse {
namespace {

/// 400 products and 200 gradients in every run, ten times as many in the long one.
constexpr int kParts = 4;

std::uint64_t cases_of_a_part() {
  return std::getenv("LACUNA_LONG") != nullptr ? 1000 : 100;  // NOLINT(concurrency-mt-unsafe)
}

class StreamOracle : public testing::TestWithParam<int> {
 protected:
  /// Compares so many cases; most of them have to end, and some to be taken by faster ways.
  template <class Make>
  static void compare(std::uint64_t cases, const Make& make) {
    std::uint64_t waiting = 0;
    unsigned faster = 0;
    for (std::uint64_t i = 0; i < cases; ++i) {
      const std::uint64_t seed = 1 + static_cast<std::uint64_t>(GetParam()) + i * kParts;
      const StreamCase made = make(seed);
      const std::string result = compare_streams(made, seed, faster);
      if (differs(result)) FAIL() << result << "\n" << reduce_streams(made, seed);
      waiting += result.empty() ? 0 : 1;
    }
    EXPECT_LT(waiting, cases / 4);
    EXPECT_GT(faster, cases / 30);
  }
};

TEST_P(StreamOracle, AgreesOnRandomProducts) { compare(cases_of_a_part(), random_streams); }

TEST_P(StreamOracle, AgreesOnRandomGradients) { compare(cases_of_a_part() / 2, random_gradient); }

INSTANTIATE_TEST_SUITE_P(Parts, StreamOracle, testing::Range(0, kParts));

}  // namespace
}  // namespace lacuna::wse

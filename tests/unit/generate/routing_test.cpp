// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/routing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::ThrowsMessage;

using Counts = std::vector<std::uint32_t>;

std::uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

Routing of_file(const std::string& text) {
  return parse_routing("file:" + test::TempFile(text).path(), 1);
}

TEST(Routing, EveryTokenTakesSoManyDifferentExperts) {
  for (const char* kind : {"uniform", "zipf:1.5", "zipf:30"}) {
    const Routing routing = parse_routing(kind, 1);
    const Counts counts = tokens_of_experts(routing, 0, 16, 4, 100);
    EXPECT_EQ(counts.size(), 16U);
    EXPECT_EQ(sum(counts), 400U) << kind;
    EXPECT_THAT(counts, Each(Le(100U))) << kind;
    // all of them: nothing is left to choose
    EXPECT_THAT(tokens_of_experts(routing, 0, 3, 3, 7), ElementsAre(7, 7, 7)) << kind;
  }
  // the second expert is 2^-30 times as likely as the first
  Counts steep = tokens_of_experts(parse_routing("zipf:30", 1), 0, 16, 1, 100);
  EXPECT_EQ(*std::max_element(steep.begin(), steep.end()), 100U);
}

// One of four experts, as 1 : 1/2 : 1/3 : 1/4, which are 12, 6, 4 and 3 of 25. Of 10,000 tokens the
// deviations are at most 50 (of the first: 10^4 * 0.48 * 0.52 = 50^2); 250 is five of them.
TEST(Routing, FollowsZipfsLaw) {
  Counts counts = tokens_of_experts(parse_routing("zipf:1", 1), 0, 4, 1, 10000);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  const std::vector<double> expected = {4800, 2400, 1600, 1200};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(counts[i], expected[i], 250);
}

TEST(Routing, IsAFunctionOfSeedAndLayer) {
  const Routing one = parse_routing("zipf:1", 1);
  EXPECT_EQ(tokens_of_experts(one, 3, 64, 2, 500), tokens_of_experts(one, 3, 64, 2, 500));
  EXPECT_NE(tokens_of_experts(one, 3, 64, 2, 500), tokens_of_experts(one, 4, 64, 2, 500));
  EXPECT_NE(tokens_of_experts(one, 3, 64, 2, 500),
            tokens_of_experts(parse_routing("zipf:1", 2), 3, 64, 2, 500));
}

TEST(Routing, TakesCountsOfAFile) {
  const Routing all = of_file("# a profile\nexpert,tokens\n0,4\n2,3\n3,1\n");
  EXPECT_THAT(tokens_of_experts(all, 7, 4, 2, 4), ElementsAre(4, 0, 3, 1));
  const Routing layers = of_file("tokens,layer,expert\n4,0,1\n4,1,0\n");
  EXPECT_THAT(tokens_of_experts(layers, 0, 2, 1, 4), ElementsAre(0, 4));
  EXPECT_THAT(tokens_of_experts(layers, 1, 2, 1, 4), ElementsAre(4, 0));
  EXPECT_THAT([&] { tokens_of_experts(layers, 2, 2, 1, 4); },
              ThrowsMessage<RequestError>(HasSubstr("found no line in layer 2")));
}

TEST(Routing, RefusesCountsThatDoNotAddUp) {
  const auto refuses = [](const std::string& text, const std::string& what) {
    EXPECT_THAT([&] { tokens_of_experts(of_file(text), 0, 4, 2, 4); },
                ThrowsMessage<RequestError>(HasSubstr(what)));
  };
  refuses("expert,tokens\n0,4\n1,3\n",
          "found 7 tokens of experts in all in layer 0; allowed: 8, as each of 4 tokens takes 2");
  refuses("expert,tokens\n0,5\n1,3\n", "found 5 tokens of expert 0");
  refuses("expert,tokens\n4,4\n1,4\n", "experts 0 to 3");
  const auto damaged = [](const std::string& text, const std::string& what) {
    EXPECT_THAT([&] { of_file(text); }, ThrowsMessage<TraceError>(HasSubstr(what)));
  };
  damaged("expert,count\n0,4\n", ".csv:1:8: error E101: found 'count'");
  damaged("expert\n0\n", "column 'tokens'");
  damaged("expert,tokens\n0,x\n", ".csv:2:3: error E202");
  damaged("expert,tokens\n0,1\n0,2\n", ".csv:3:1: error E207");
  damaged("expert,tokens\n0\n", "error E004");
  damaged("expert,tokens\n", "no counts of tokens");
  for (const char* text : {"zipf", "zipf:", "zipf:-1", "zipf:1e3", "file:", "even"}) {
    EXPECT_THAT([&] { parse_routing(text, 1); },
                ThrowsMessage<RequestError>(HasSubstr("uniform, zipf:EXPONENT, file:PATH")))
        << text;
  }
}

}  // namespace
}  // namespace lacuna

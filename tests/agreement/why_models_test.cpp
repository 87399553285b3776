// SPDX-License-Identifier: Apache-2.0
// Why language models, and steps of training, are not faster: what is claimed was run.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/driver/why/why_words.hpp"
#include "tests/support/agreement/why.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using Arguments = std::vector<std::string>;

Arguments words(const std::string& line) {
  std::istringstream text(line);
  Arguments all;
  for (std::string each; text >> each;) all.push_back(each);
  return all;
}

/// Microseconds of a step with settings beside those of a request; 0 if it is refused.
double micros_of(const std::string& line, const Arguments& settings) {
  Arguments all = words(line);
  for (const std::string& each : settings) all.insert(all.end(), {"--set", each});
  all.insert(all.end(), {"--json", "--quiet"});
  const auto printed = nlohmann::json::parse(run_real(all).out, nullptr, false);
  return printed.is_discarded() ? 0 : 1e6 * printed.at("step_time").get<double>();
}

/// A run whose first cause is known from runs that were set up by hand, one switch after the other.
struct KnownModel {
  const char* arguments;
  const char* cause;
  double gain;  // time as it is over time without it
};

class WhyOfModels : public ::testing::TestWithParam<KnownModel> {};

// Of each: every step of the ladder replays; none of the costs alone gains more than the first that
// is named; the last step has all settings of all costs.
TEST_P(WhyOfModels, ClaimsWereRun) {
  const std::string line = std::string("run ") + GetParam().arguments;
  const std::optional<Why> why = why_of(words(line));
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->unit, "us");
  ASSERT_FALSE(why->sentences.empty());
  ASSERT_GE(why->ladder.size(), 3U);
  EXPECT_NEAR(why->ladder.front().time, micros_of(line, {}), 1e-9 * why->ladder.front().time);
  const WhyStep& first = why->ladder[1];
  EXPECT_EQ(why->first(), GetParam().cause);
  EXPECT_NEAR(first.faster, GetParam().gain, 0.01 * GetParam().gain);
  EXPECT_NEAR(first.time, micros_of(line, first.settings), 1e-9 * first.time) << first.cause;
  EXPECT_EQ(why->ladder.back().cause, kAllAway);
  ASSERT_FALSE(why->alone.empty());
  for (const WhyAlone& each : why->alone) {
    if (!(each.time > 0)) continue;
    EXPECT_EQ(each.not_run, "") << each.cause;
    EXPECT_GE(kTie * each.time, first.time) << each.cause << " before " << first.cause;
    for (const std::string& setting : each.settings) {
      const Arguments& all = why->ladder.back().settings;
      EXPECT_NE(std::find(all.begin(), all.end(), setting), all.end()) << setting;
    }
  }
}

// Microseconds by hand: a token on 16 chips 767.5, 457.5 if worker code takes no slot; a step of
// training on 4 chips 526,009 and 406,964; a token of a wafer's layer 145.3, 80.40 if its logits
// are chosen from in a cycle.
INSTANTIATE_TEST_SUITE_P(
    Of, WhyOfModels,
    ::testing::Values(
        KnownModel{"--machine pod16 --model qwen3-0.6b --decode --weights all=block16:0.25",
                   "code around the arithmetic, on chips", 767.5 / 457.5},
        KnownModel{"--machine pod4 --system-config bert_base_sparse",
                   "code around the arithmetic, on chips", 526009.0 / 406964},
        KnownModel{"--machine wse3 --model qwen3-0.6b --decode --layers 1 --blocks 1x1 "
                   "--block-cores 64x64 --weights all=unstructured:0.25",
                   "choosing a token from the logits", 145.3 / 80.40}));

}  // namespace
}  // namespace lacuna::test

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/agreement/request.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using testing::HasSubstr;

/// The switches that take a cost away, by kind of machine.
const std::vector<std::string>& switches(bool wafer) {
  static const std::vector<std::string> tiles = {"without.exchange=true", "without.slowest=true",
                                                 "without.overhead=true",
                                                 "without.arithmetic=true"};
  static const std::vector<std::string> cores = {"ws.copies=idealised", "ws.exchange=idealised",
                                                 "ws.reduce=idealised"};
  return wafer ? cores : tiles;
}

std::vector<std::string> words_of(const Request& request, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"run", "--machine", request.machine};
  for (const auto& part : {request.product(), request.options(), more}) {
    words.insert(words.end(), part.begin(), part.end());
  }
  return words;
}

/// A small product, and some of the switches of its machine.
Request draw(Random& random) {
  Request request = small_product(random);
  for (const std::string& each : switches(request.machine.rfind("wse", 0) == 0)) {
    if (random.bounded(2) == 0) request.settings.push_back(each);
  }
  return request;
}

// A cost that is taken away is no other machine: both engines agree, products are right, and what
// was to be computed is what it was. Sums that do not travel have no numbers.
TEST(Idealised, EventIsClockedAndValuesAreRight) {
  for_each_draw([](Random& random) {
    const Request request = draw(random);
    const auto& all = request.settings;
    std::vector<std::string> words;
    if (std::find(all.begin(), all.end(), "ws.reduce=idealised") == all.end()) {
      words = {"--values"};
    }
    const auto event = numbers_of(words_of(request, words));
    words.insert(words.end(), {"--engine", "clocked"});
    EXPECT_EQ(event, numbers_of(words_of(request, words)));
  });
}

/// Cycles of a product on wafers of few cores, with the edge out of the way.
double cycles_on(const std::string& size, const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"run",      "--machine", "wse2",  "--gemm",          size,
                                    "--layout", "first",     "--set", "io.gbit=10000000"};
  for (const std::string& each : settings) words.insert(words.end(), {"--set", each});
  return numbers_of(words).front().values["cycles"].value_or(0);
}

// Without sums on their way no column knows of another: eight that share 128 features take what one
// takes with 16, and with a sum to be moved they take longer. So on chains and trees, whose routes
// are not used.
TEST(Idealised, ColumnsWhoseSumsDoNotTravelAreAlone) {
  const double one =
      cycles_on("48x16x12", {"wafer.columns=1", "wafer.rows=3", "ws.reduce=idealised"});
  EXPECT_GT(one, 48 * 16);
  const std::vector<std::string> eight = {"wafer.columns=8", "wafer.rows=3"};
  const auto with = [&](const std::string& setting) {
    std::vector<std::string> all = eight;
    all.push_back(setting);
    return cycles_on("48x128x12", all);
  };
  EXPECT_EQ(with("ws.reduce=idealised"), one);
  EXPECT_GT(with("ws.reduce=ring"), one);
}

// Four groups of four columns have a quarter of the rows of weights each. Their results take time
// on their way to each other, and none if they are there at once: then it is as if they were left
// in their groups for whoever comes next.
TEST(Idealised, ResultsOfGroupsAreThereAtOnce) {
  const std::vector<std::string> groups = {"wafer.columns=16", "wafer.rows=3", "ws.groups=4"};
  const auto with = [&](const std::string& setting) {
    std::vector<std::string> all = groups;
    all.push_back(setting);
    return cycles_on("256x64x96", all);
  };
  EXPECT_LT(with("ws.exchange=idealised"), with("ws.exchange=product"));
  EXPECT_EQ(with("ws.exchange=idealised"), with("ws.exchange=next"));
}

TEST(Idealised, NoSwitchMakesAnIpuSlower) {
  for_each_draw([](Random& random) {
    Request request = draw(random);
    request.machine = "bow";
    request.settings = {"ipu.tiles=32"};
    double before = numbers_of(words_of(request, {})).front().values["cycles"].value_or(0);
    for (const std::string& each : switches(false)) {
      request.settings.push_back(each);
      const auto numbers = numbers_of(words_of(request, {}));
      const double after = numbers.front().values.at("cycles").value_or(0);
      EXPECT_LE(after, before) << each;
      before = after;
    }
  });
}

TEST(Idealised, NoMachineIsDescribedSo) {
  const TempFile file("base: bow\nwithout: {exchange: true}\n", ".yaml");
  const auto refused = numbers_of({"run", "--machine", file.path(), "--gemm", "16x16x16"});
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused.front().status, HasSubstr("'without.exchange = true' takes a cost away"));
}

}  // namespace
}  // namespace lacuna::test

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  static const std::vector<std::string> cores = {"ws.copies=idealised"};
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
// was to be computed is what it was.
TEST(Idealised, EventIsClockedAndValuesAreRight) {
  for_each_draw([](Random& random) {
    const Request request = draw(random);
    const auto event = numbers_of(words_of(request, {"--values"}));
    EXPECT_EQ(event, numbers_of(words_of(request, {"--values", "--engine", "clocked"})));
  });
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

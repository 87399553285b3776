// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/agreement/request.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Arguments = std::vector<std::string>;

/// A product on wafers that share a store, and how they are joined.
struct StoreRequest {
  std::string machine;
  std::string shape;
  std::string pattern;
  Arguments settings;

  explicit StoreRequest(Random& random) {
    const auto side = [&] { return std::to_string(8 + 8 * random.bounded(20)); };
    machine = random.bounded(2) == 0 ? "cs2x1" : "cs2x4";
    shape = side() + "x" + side() + "x" + side();
    pattern = random.bounded(2) == 0 ? "" : "unstructured:0.5";
    const Arguments rates = {"0.5", "5", "150"};
    settings = {"chip.wafer.columns=16", "chip.wafer.rows=8",
                "swarmx.link_gbps=" + rates[random.bounded(3)],
                "memoryx.read_gbps=" + rates[random.bounded(3)]};
  }

  Arguments with(Arguments words) const {
    words.insert(words.end(), {"--gemm", shape});
    if (!pattern.empty()) words.insert(words.end(), {"--pattern", pattern});
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return words;
  }

  std::string file() const {
    std::string text = "machine: " + machine + "\ngemm: " + shape + "\n";
    if (!pattern.empty()) text += "pattern: " + pattern + "\n";
    std::string set;
    for (const std::string& each : settings) {
      const std::size_t at = each.find('=');
      set += (set.empty() ? "" : ", ") + each.substr(0, at) + ": " + each.substr(at + 1);
    }
    return text + "set: {" + set + "}\n";
  }
};

// The record of a system is the same alone, beside a chip, and as a point of a sweep.
TEST(SystemRecords, AreTheSameHoweverTheyAreAskedFor) {
  for_each_draw([](Random& random) {
    const StoreRequest request(random);
    const auto alone = numbers_of(request.with({"run", "--machine", request.machine}));
    ASSERT_EQ(alone.size(), 1U);
    const std::string other = request.machine == "cs2x1" ? "cs2x4" : "cs2x1";
    const auto beside =
        numbers_of(request.with({"compare", "--machine", other, "--machine", request.machine}));
    ASSERT_FALSE(beside.empty());
    EXPECT_EQ(beside.back(), alone.front());
    const TempFile file(request.file(), ".yaml");
    const auto swept = numbers_of({"sweep", file.path()});
    ASSERT_EQ(swept.size(), 1U);
    EXPECT_EQ(swept.front(), alone.front());
  });
}

// Slower links are never quicker, and what the system takes is at least what its chips take.
TEST(SystemRecords, TakeAsLongAsTheSystem) {
  for_each_draw([](Random& random) {
    StoreRequest request(random);
    const auto value = [](const Numbers& of, const char* name) {
      return of.values.at(name).value_or(0);
    };
    const Arguments words = request.with({"run", "--machine", request.machine});
    const auto total = numbers_of(words);
    const auto row = numbers_of(words, "gemm");
    ASSERT_EQ(total.size(), 1U);
    ASSERT_EQ(row.size(), 1U);
    EXPECT_GT(value(total[0], "time_s"), value(row[0], "time_s"));
    EXPECT_GT(value(total[0], "energy_j"), value(row[0], "energy_j"));
    request.settings[2] = "swarmx.link_gbps=0.1";
    const auto slow = numbers_of(request.with({"run", "--machine", request.machine}));
    EXPECT_GE(value(slow[0], "time_s"), value(total[0], "time_s"));
    EXPECT_GE(value(slow[0], "energy_j"), value(total[0], "energy_j"));
  });
}

}  // namespace
}  // namespace lacuna::test

// SPDX-License-Identifier: Apache-2.0
// The order in which things are named is no part of a request.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Words = std::vector<std::string>;

template <class T>
std::vector<T> shuffled(Random& random, std::vector<T> all) {
  for (std::size_t left = all.size(); left > 1; --left) {
    std::swap(all[left - 1], all[random.bounded(left)]);
  }
  return all;
}

/// A machine's piece on which small rows take milliseconds.
Words small_machine(Random& random) {
  if (random.bounded(2) == 0) return {"--machine", "bow", "--set", "ipu.tiles=32"};
  return {"--machine", pick<std::string>(random, {"wse2", "wse3"}),
          "--set",     "wafer.columns=8",
          "--set",     "wafer.rows=6"};
}

/// Rows of a trace of which none takes what another makes.
Words independent_rows(Random& random) {
  Words rows;
  const auto size = [&] { return std::to_string(8 * upto(random, 8)); };
  for (char id = 'a'; id < 'f'; ++id) {
    const std::string k = pick<std::string>(random, {"gemm", "bmm", "softmax", "rmsnorm"});
    const bool product = k == "gemm" || k == "bmm";
    const std::string pattern =
        k != "gemm" ? ","
                    : pick<std::string>(random, {"dense,", "unstructured,0.3", "unstructured,0.1"});
    rows.push_back(std::string(1, id) + "," + k + "," + size() + "," + (product ? size() : "") +
                   "," + size() + ",fp16," + pattern + ",-\n");
  }
  return rows;
}

std::string trace_of(const Words& rows) {
  return std::accumulate(
      rows.begin(), rows.end(),
      std::string("# lacuna-trace v1\nid,op,m,k,n,dtype,pattern,density,depends_on\n"));
}

TEST(Order, OfRowsThatNeedNoOtherChangesNone) {
  for_each_draw([](Random& random) {
    const Words machine = small_machine(random);
    const Words rows = independent_rows(random);
    const auto run = [&](const Words& in_order) {
      const TempFile trace(trace_of(in_order));
      Words words = {"run", "--trace", trace.path()};
      words.insert(words.end(), machine.begin(), machine.end());
      return rows_of(words);
    };
    const auto written = run(rows);
    const auto other = run(shuffled(random, rows));
    ASSERT_EQ(written.size(), rows.size() + 1);
    ASSERT_EQ(other.size(), written.size());
    for (const auto& [id, numbers] : written) expect_close(other.find(id)->second, numbers);
  });
}

/// What points of a sweep came to, in an order of their own.
std::vector<std::string> points_of(const std::string& machines, const std::string& patterns,
                                   const std::string& seeds) {
  const TempFile file(
      "gemm: 32x32x24\nset: {ipu.tiles: 16, wafer.columns: 6, wafer.rows: 5}\n"
      "grid: {machine: [" +
          machines + "], pattern: [" + patterns + "], seed: [" + seeds + "]}\n",
      ".yaml");
  std::vector<std::string> points;
  for (const Numbers& each : numbers_of({"sweep", file.path(), "--jobs", "1"})) {
    points.push_back(testing::PrintToString(each));
  }
  std::sort(points.begin(), points.end());
  return points;
}

TEST(Order, OfMachinesPatternsAndSeedsChangesNoPoint) {
  for_each_draw([](Random& random) {
    const Words machines = {pick<std::string>(random, {"bow", "gc200"}), "wse2"};
    const Words patterns = {"unstructured:0.2", "block4:0.5"};
    const Words seeds = {"1", "7"};
    const auto list = [](const Words& words) {
      return std::accumulate(words.begin() + 1, words.end(), words[0],
                             [](const auto& all, const auto& each) { return all + ", " + each; });
    };
    const auto first = [&](const Words& all) { return list(shuffled(random, all)); };
    const auto written = points_of(list(machines), list(patterns), list(seeds));
    ASSERT_EQ(written.size(), 2 * 2 * 2U);
    EXPECT_EQ(points_of(first(machines), first(patterns), first(seeds)), written);
  });
}

TEST(Order, OfOptionsChangesNothing) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    std::vector<Words> options = {{"--machine", request.machine}};
    const Words product = request.product();
    const Words others = request.options();
    for (const Words& from : {product, others}) {
      for (std::size_t i = 0; i + 1 < from.size(); i += 2)
        options.push_back({from[i], from[i + 1]});
    }
    const auto run = [&](const std::vector<Words>& in_order) {
      Words words = {"run"};
      for (const Words& each : in_order) words.insert(words.end(), each.begin(), each.end());
      return numbers_of(words);
    };
    const auto written = run(options);
    ASSERT_EQ(written.size(), 1U);
    EXPECT_EQ(run(shuffled(random, options)), written);
  });
}

}  // namespace
}  // namespace lacuna::test

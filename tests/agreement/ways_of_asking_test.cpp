// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/agreement/request.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Arguments = std::vector<std::string>;

/// The rows TOTAL of what `verb` prints for these machines and this workload.
std::vector<Numbers> ask(const std::string& verb, const Arguments& machines,
                         const Arguments& workload, const Request& request) {
  Arguments words = {verb};
  for (const std::string& machine : machines) words.insert(words.end(), {"--machine", machine});
  const Arguments options = request.options();
  words.insert(words.end(), workload.begin(), workload.end());
  words.insert(words.end(), options.begin(), options.end());
  return numbers_of(words);
}

Numbers run_alone(const Request& request) {
  const auto rows = ask("run", {request.machine}, request.product(), request);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? Numbers{} : rows.front();
}

/// A trace of that product alone.
std::string trace_of(const Request& request) {
  return "# lacuna-trace v1\nid,op,m,k,n,dtype\ngemm,gemm," + std::to_string(request.m) + "," +
         std::to_string(request.k) + "," + std::to_string(request.n) + "," + request.dtype + "\n";
}

/// An experiment of that product alone.
std::string experiment_of(const Request& request) {
  std::string set;
  for (const std::string& setting : request.settings) {
    const std::size_t at = setting.find('=');
    set += (set.empty() ? "" : ", ") + setting.substr(0, at) + ": " + setting.substr(at + 1);
  }
  return "machine: " + request.machine + "\ngemm: " + request.shape() +
         "\npattern: " + request.pattern + "\ndtype: " + request.dtype +
         "\nseed: " + std::to_string(request.seed) + "\nset: {" + set + "}\n";
}

TEST(WaysOfAsking, ARowOfATraceIsTheProduct) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    const TempFile trace(trace_of(request));
    const auto rows = ask("run", {request.machine}, {"--trace", trace.path()}, request);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front(), run_alone(request));
  });
}

TEST(WaysOfAsking, ComparedMachinesDoNotSeeEachOther) {
  for_each_draw([](Random& random) {
    Request request = small_product(random);
    request.settings = {"ipu.tiles=32", "wafer.columns=7", "wafer.rows=5"};
    const auto both = ask("compare", {"gc200", "wse2"}, request.product(), request);
    ASSERT_EQ(both.size(), 2U);
    request.machine = "gc200";
    request.settings = {"ipu.tiles=32"};
    EXPECT_EQ(both.front(), run_alone(request));
    request.machine = "wse2";
    request.settings = {"wafer.columns=7", "wafer.rows=5"};
    EXPECT_EQ(both.back(), run_alone(request));
  });
}

TEST(WaysOfAsking, APointOfASweepIsTheRun) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    const TempFile file(experiment_of(request), ".yaml");
    const auto rows = numbers_of({"sweep", file.path()});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front(), run_alone(request));
  });
}

}  // namespace
}  // namespace lacuna::test

// SPDX-License-Identifier: Apache-2.0
// The best layout of rows that follow each other begins with the planned one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Words = std::vector<std::string>;

std::string pattern_of(Random& random) {
  return pick<std::string>(random, {"dense,,", "unstructured,0.05,", "unstructured,0.3,",
                                    "block,0.1,16", "block,0.6,16"});
}

/// Rows of one width, as forward and backward passes have them.
std::string following_rows(Random& random) {
  const auto size = [&] { return std::to_string(32 * upto(random, 4)); };
  const std::string m = size();
  const std::string k = size();
  const std::string n = std::to_string(12 + upto(random, 180));
  std::string rows = "# lacuna-trace v1\nid,op,phase,fn,m,k,n,dtype,pattern,density,block\n";
  for (char id = 'a'; id <= static_cast<char>('a' + random.bounded(3)); ++id) {
    rows += std::string(1, id) + ",";
    const std::string op =
        pick<std::string>(random, {"gemm", "gemm", "sddmm", "eltwise", "layernorm", "optim"});
    if (op == "gemm") {
      rows += "gemm,fwd,," + m + "," + k + "," + n + ",fp16," + pattern_of(random) + "\n";
    } else if (op == "sddmm") {
      rows += "sddmm,bwd,," + m + "," + n + "," + k + ",fp16,unstructured,0.2,\n";
    } else if (op == "optim") {
      rows += "optim,upd,adam," + m + "," + k + ",,fp32,,,\n";
    } else {
      rows += op + ",fwd," + (op == "eltwise" ? "gelu" : "") + "," + m + ",," + n + ",fp16,,,\n";
    }
  }
  return rows;
}

/// A chain of products with functions between them, each of which takes the result before it.
std::string chain_of_rows(Random& random) {
  std::string rows = "# lacuna-trace v1\nid,op,fn,m,k,n,dtype,pattern,density,block,depends_on\n";
  const std::string n = std::to_string(12 * upto(random, 10));
  std::string features = std::to_string(32 * upto(random, 4));
  std::string before;
  for (char id = 'a'; id <= static_cast<char>('b' + random.bounded(3)); ++id) {
    const std::string op = pick<std::string>(random, {"gemm", "gemm", "eltwise", "layernorm"});
    rows += std::string(1, id) + "," + op + "," + (op == "eltwise" ? "gelu" : "") + ",";
    if (op == "gemm") {
      const std::string results = std::to_string(32 * upto(random, 4));
      rows += results + "," + features + "," + n + ",fp16," + pattern_of(random);
      features = results;
    } else {
      rows += features + ",," + n + ",fp16,,,";
    }
    rows += "," + before + "\n";
    before = std::string(1, id);
  }
  return rows;
}

std::vector<Numbers> laid_out(const Words& machine, const std::string& trace,
                              const std::string& layout, const std::string& row) {
  Words words = {"run", "--trace", trace, "--no-cache", "--layout", layout};
  words.insert(words.end(), machine.begin(), machine.end());
  return numbers_of(words, row);
}

void expect_no_slower(const Words& machine, const std::string& rows, const std::string& best_of) {
  const TempFile trace(rows);
  const Numbers planned = laid_out(machine, trace.path(), "planned", "TOTAL").at(0);
  const Numbers best = laid_out(machine, trace.path(), best_of, "TOTAL").at(0);
  ASSERT_EQ(best.status, planned.status) << rows;
  if (planned.status != "ok") return;
  EXPECT_LE(*best.values.at("cycles"), *planned.values.at("cycles"))
      << machine[1] << " " << machine[3] << " " << machine.back() << "\n"
      << rows;
}

TEST(BestOfRows, IsNeverSlowerThanPlanned) {
  for_each_draw([](Random& random) {
    const Words machine = {"--machine", pick<std::string>(random, {"wse2", "wse3"}),
                           "--set",     "wafer.columns=" + std::to_string(6 + upto(random, 18)),
                           "--set",     "wafer.rows=" + std::to_string(6 + upto(random, 18))};
    expect_no_slower(machine, following_rows(random), "best:1");
  });
}

TEST(BestOfRows, IsNeverSlowerThanPlannedOnAnIpu) {
  for_each_draw([](Random& random) {
    const Words machine = {"--machine", pick<std::string>(random, {"gc200", "bow"}), "--set",
                           "ipu.tiles=" + std::to_string(8 * upto(random, 25))};
    const std::string rows = chain_of_rows(random);
    expect_no_slower(machine, rows, pick<std::string>(random, {"best:1", "best:6"}));
  });
}

// No other row sees what an optimizer works on, so it has all cores beside a product that has few.
TEST(BestOfRows, AnOptimizerHasAllCoresInEveryLayout) {
  const Words machine = {"--machine",        "wse2",  "--set",
                         "wafer.columns=16", "--set", "wafer.rows=16"};
  const std::string head = "# lacuna-trace v1\nid,op,fn,m,k,n,dtype,pattern,density\n";
  const std::string update = "o,optim,adam,128,96,,fp32,,\n";
  const TempFile alone(head + update);
  const TempFile both(head + "a,gemm,,128,96,64,fp32,unstructured,0.2\n" + update);
  const Numbers least = laid_out(machine, alone.path(), "planned", "o").at(0);
  ASSERT_EQ(least.status, "ok");
  EXPECT_EQ(laid_out(machine, both.path(), "planned", "o").at(0).values.at("cycles"),
            least.values.at("cycles"));
  EXPECT_EQ(laid_out(machine, both.path(), "best:2", "o").at(0).values.at("cycles"),
            least.values.at("cycles"));
}

}  // namespace
}  // namespace lacuna::test

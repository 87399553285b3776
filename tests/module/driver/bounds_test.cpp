// SPDX-License-Identifier: Apache-2.0
// Bounds of a run against runs of machines that really are without the cost: none may be faster
// than its bound says.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

struct WithoutACost {
  const char* name;
  const char* what_if;    // of bounds.csv
  const char* run;        // of both machines
  const char* ideal;      // what makes the machine that is without the cost
  const char* cost = "";  // of the run alone that has the cost
};

void PrintTo(const WithoutACost& c, std::ostream* out) { *out << c.name; }

constexpr const char* kTiles = "--machine bow --set ipu.tiles=32 --gemm 256x256x128 ";
constexpr const char* kCores =
    "--layout first --machine wse2 --set wafer.columns=8 --set wafer.rows=8 ";
constexpr const char* kLayers = "LAYERS";
constexpr const char* kFed = "--set io.gbit=10000000 --set io.share=1 ";

class RunsWithBounds : public ::testing::Test {
 protected:
  double cycles(const std::string& name, const std::string& more) const {
    std::string line = "run --quiet --out " + bench_.path(name) + " " + more;
    const std::size_t at = line.find(kLayers);
    if (at != std::string::npos) line.replace(at, std::string(kLayers).size(), layers());
    const Ran ran = run_real(line);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string csv = file_text(bench_.path(name) + "/summary.csv");
    return CsvTable(csv).where({{"op_id", "TOTAL"}}).number("cycles");
  }

  /// A trace of rows that stay on a wafer: more than there are rows of cores.
  std::string layers() const {
    std::ofstream(bench_.path("layers.csv"))
        << "# lacuna-trace v1\nid,op,m,k,n,dtype,pattern,density\n"
           "soft,softmax,20,,64,fp16,dense,1\nnorm,layernorm,20,,64,fp16,dense,1\n";
    return "--trace " + bench_.path("layers.csv");
  }

  const ProgramBench bench_;
};

class ABound : public RunsWithBounds, public ::testing::WithParamInterface<WithoutACost> {};

TEST_P(ABound, IsReachedByNoMachineThatIsWithoutTheCost) {
  const WithoutACost& c = GetParam();
  const double before = cycles("as_it_is", std::string(c.run) + " " + c.cost);
  const double after = cycles("ideal", std::string(c.run) + " " + c.ideal);
  const std::string csv = file_text(bench_.path("as_it_is") + "/bounds.csv");
  const double bound = CsvTable(csv).where({{"what_if", c.what_if}}).number("speedup");
  EXPECT_GE(bound, before / after) << before << " cycles, " << after << " without the cost";
  EXPECT_GE(before / after, 1) << "it was a cost";
}

const std::string kOnTiles = std::string(kTiles) + "--pattern unstructured:0.2";
const std::string kOnCores = std::string(kCores) + "--gemm 128x128x64 --pattern unstructured:0.1";
const std::string kRingOnCores =
    std::string(kCores) + kFed +
    "--set ws.lookahead=32 --gemm 128x128x256 --pattern unstructured:0.1";
const std::string kUnevenOnCores =
    std::string(kCores) + kFed + "--gemm 128x128x64 --pattern rows:0.1:alpha=0.8";

const std::string kTasksOnCores =
    std::string(kCores) + "--gemm 128x128x8 --dtype fp32 --mode dynamic";
const std::string kUnevenTasks = kTasksOnCores + " --pattern rows:0.1:alpha=0.8";
const std::string kLayersOnCores = std::string(kCores) + kLayers;
constexpr const char* kRoom =
    "--set router.ramp=1 --set queue.in=64,64,64,64,64,64,64,64 --set queue.out=64,64,64,64,64,64";

/// An operation that moves nothing through the edge is not faster with a better one.
TEST_F(RunsWithBounds, AreTheirOwnBoundWithoutTheEdgeIfNothingPassesIt) {
  const double before = cycles("as_it_is", kLayersOnCores);
  const std::string csv = file_text(bench_.path("as_it_is") + "/bounds.csv");
  EXPECT_EQ(CsvTable(csv).where({{"what_if", "infinite I/O"}}).number("cycles"), before);
  EXPECT_EQ(cycles("ideal", kLayersOnCores + " " + kFed), before);
}

std::string cost_of(const ::testing::TestParamInfo<WithoutACost>& each) { return each.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Of, ABound,
    ::testing::Values(
        WithoutACost{"BarriersOfTiles", "no sync", kOnTiles.c_str(), "--set sync.cycles=2"},
        WithoutACost{"TheEdgeOfAWafer", "infinite I/O", kOnCores.c_str(), kFed},
        WithoutACost{"TheRingOfAWafer", "ideal exchange", kRingOnCores.c_str(),
                     "--set core.fabric_words_per_issue=2"},
        WithoutACost{"ExchangeOfTiles", "ideal exchange", kOnTiles.c_str(),
                     "--set exchange.latency=constant --set "
                     "exchange.constant_latency=1 --set exchange.control_events=0"},
        WithoutACost{"QueuesOfTasks", "ideal exchange", kUnevenTasks.c_str(), kRoom},
        WithoutACost{"UnevenRowsOfTasks", "perfect balance", kTasksOnCores.c_str(),
                     "--pattern unstructured:0.1", "--pattern rows:0.1:alpha=0.8"},
        WithoutACost{"QueuesOfLayers", "ideal exchange", kLayersOnCores.c_str(), kRoom},
        WithoutACost{"UnevenRowsOfAWafer", "perfect balance", kUnevenOnCores.c_str(),
                     "--set ws.lookahead=64 --set queue.in=6,6,1024,4"}),
    cost_of);

TEST(Bounds, HaveNoHeadingWhereNothingRan) {
  const std::string run = "run --machine bow --set ipu.tiles=16 --gemm 64x64x64 --explain";
  const std::string heading = "Bounds, by its own cycle stack";
  EXPECT_NE(run_real(run).out.find(heading), std::string::npos);
  EXPECT_EQ(run_real(run + " --dtype fp8").out.find(heading), std::string::npos);
}

}  // namespace
}  // namespace lacuna::test

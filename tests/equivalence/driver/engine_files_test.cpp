// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "sim/report/result.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;

/// A shipped trace on a machine small enough for the clocked engine.
struct Case {
  const char* name;
  const char* machine;
  const char* workload;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// All files of a result by path, but for the host's, with the engine's name made the same.
std::map<std::string, std::string> files(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name == "host.json") continue;
    std::string text = file_text(entry.path().string());
    const bool names_engine =
        name == "summary.csv" || name == "result.json" || name == "report.html";
    for (std::size_t at = 0;
         names_engine && (at = text.find("clocked", at)) != std::string::npos;) {
      text.replace(at, 7, "event");
    }
    all.emplace(name, std::move(text));
  }
  return all;
}

class Engines : public ::testing::TestWithParam<Case> {};

TEST_P(Engines, WriteTheSameBytesIntoEveryFileAndFigure) {
  const ProgramBench bench;
  for (const char* const engine : {"event", "clocked"}) {
    const Ran ran =
        run_real(std::string("compare --quiet --event-log --interval 2500 --pattern own ") +
                 GetParam().machine + " --trace " + source_path(GetParam().workload) +
                 " --engine " + engine + " --out " + bench.path(engine));
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  const std::map<std::string, std::string> event = files(bench.path("event"));
  const std::map<std::string, std::string> clocked = files(bench.path("clocked"));
  ASSERT_EQ(event.size(), clocked.size());
  EXPECT_GT(event.at("events.csv").size(), 1000U);
  for (const auto& [name, text] : event) {
    EXPECT_TRUE(clocked.count(name) == 1 && clocked.at(name) == text) << name << " differs";
  }
}

// 33 x 33 x 33 is padded to the width of the AMP: within a vertex more products are formed than the
// 35,937 of the operation, and those outside it are known at its end. The intervals add up to the
// operation, or the run ends with status 4.
TEST(Intervals, OfAnIpuEndWithinVerticesThatPad) {
  const ProgramBench bench;
  for (const char* const engine : {"event", "clocked"}) {
    const Ran ran =
        run_real(std::string("run --quiet --machine bow --set ipu.tiles=16 --gemm 33x33x33 "
                             "--interval 100 --engine ") +
                 engine + " --out " + bench.path(engine));
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  const std::string event = file_text(bench.path("event") + "/intervals.csv");
  EXPECT_GT(event.size(), 1000U);
  EXPECT_EQ(event, file_text(bench.path("clocked") + "/intervals.csv"));
}

/// The values of intervals.csv, in which a sum by any column can be taken.
std::string intervals_of_wafer(const ProgramBench& bench, const std::string& more,
                               const char* name) {
  const Ran ran = run_real(
      "run --quiet --layout first --machine wse2 --set wafer.columns=4 --set wafer.rows=9 "
      "--interval 40 --out " +
      bench.path(name) + " " + more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return file_text(bench.path(name) + "/intervals.csv");
}

TEST(Intervals, AreThoseOfAFullWaferWhenItIsFolded) {
  const ProgramBench bench;
  for (const char* const gemm : {"--gemm 64x64x95 --pattern unstructured:0.3", "--gemm 48x64x12"}) {
    SCOPED_TRACE(gemm);
    const std::string folded = intervals_of_wafer(bench, gemm, "folded");
    const std::string full = intervals_of_wafer(bench, gemm + std::string(" --fold off"), "full");
    EXPECT_GT(folded.size(), 1000U);
    EXPECT_EQ(folded, full);
  }
}

TEST(Intervals, AreTheSameWithAModuleForEachCore) {
  const ProgramBench bench;
  const std::string gemm = "--gemm 48x64x30 --pattern unstructured:0.3 ";
  const std::string rows = intervals_of_wafer(bench, gemm, "rows");
  EXPECT_GT(rows.size(), 1000U);
  for (const char* const engine : {"event", "clocked"}) {
    const std::string modules = "--set wafer.modules=per_core --engine " + std::string(engine);
    EXPECT_EQ(intervals_of_wafer(bench, gemm + modules, engine), rows) << engine;
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Of, Engines,
    ::testing::Values(Case{"SmallProductsOnTiles", "--machine bow --set ipu.tiles=16",
                           "traces/small_gemms.csv"},
                      Case{"SmallProductsOnCores",
                           "--layout first --machine wse2 --set wafer.columns=4 --set wafer.rows=4",
                           "traces/small_gemms.csv"},
                      Case{"UnevenProductsOnTiles", "--machine gc200 --set ipu.tiles=16",
                           "traces/small_trained.csv"},
                      Case{"UnevenProductsOnCores",
                           "--layout first --machine wse2 --set wafer.columns=4 --set wafer.rows=3",
                           "traces/small_trained.csv"}),  // larger ones: scripts/ci/determinism.sh
    name_of);

}  // namespace
}  // namespace lacuna::test

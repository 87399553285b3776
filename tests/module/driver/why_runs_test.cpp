// SPDX-License-Identifier: Apache-2.0
// --why runs no operation again on which nothing acts that it takes away.
#include "sim/driver/why/why_runs.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna::test {
namespace {

/// A product that streams weights in, and a function beside it, on 8 x 8 cores.
class WhyRunsOfTwoRows : public ::testing::Test {
 protected:
  Point point_with(const std::vector<std::string>& more) {
    std::vector<std::string> settings = {"wafer.columns=8", "wafer.rows=8"};
    append(settings, more);
    machines_.push_back(std::move(make_machines(standard_machines(), {"wse2"}, settings)[0]));
    machines_.back() = with_layouts(std::move(machines_.back()), layouts_);
    return {0, machines_.back().get(), "", read_trace(trace_.path())};
  }

  RunRecord run(const std::vector<std::string>& more) {
    return run_point(point_with(more), settings_, masks_, pricing_);
  }

  Why why(const RunRecord& record) {
    const Point point = point_with({});
    std::ostream nowhere(nullptr);
    return ask_why(point, record, {settings_, masks_, pricing_, layouts_, 1, nowhere, true, false})
        .value();
  }

  static double cycles(const RunRecord& record) {
    double all = 0;
    for (const OpRecord& op : record.ops) all += static_cast<double>(op.result.cycles);
    return all;
  }

  const TempFile trace_{
      "# lacuna-trace v1\nid,op,m,k,n,dtype,pattern,density,fn\n"
      "w,gemm,96,96,64,fp16,unstructured,0.2,\nf,eltwise,96,,64,fp16,,,bias_gelu\n"};
  const RunSettings settings_;
  const Pricing pricing_{config_folder()};
  const LayoutRequest layouts_ = layout_request({}, true);
  MaskStore masks_{1};
  std::vector<std::unique_ptr<Machine>> machines_;
};

// The function takes 1,000 cycles more in the run that is asked about than it does: a run without
// the edge has them too, as its cycles are taken from there. Code acts on functions, so that the
// run without code has not.
TEST_F(WhyRunsOfTwoRows, AFunctionKeepsItsCyclesWithoutTheEdge) {
  constexpr Cycle kMore = 1000;
  RunRecord record = run({});
  const Why plain = why(record);
  record.ops[1].result.cycles += kMore;
  record.ops[1].row.cycles = record.ops[1].result.cycles;
  const Why told = why(record);
  const auto alone = [](const Why& of, const std::string& cause) {
    const WhyAlone* const found =
        find_where(of.alone, [&](const WhyAlone& each) { return each.cause == cause; });
    EXPECT_TRUE(found != nullptr && found->not_run.empty()) << cause;
    return found == nullptr ? 0 : found->time;
  };
  EXPECT_EQ(alone(told, "the edge"), alone(plain, "the edge") + kMore);
  EXPECT_EQ(alone(told, "code around the arithmetic"), alone(plain, "code around the arithmetic"));
}

// Ctrl-C while it is run again ends it: the run is kept, as its journal is there, and no cause is
// said of runs that are not whole.
TEST(WhyInterrupted, SaysNoCause) {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const fs::path journal = folder.path() / "out.journal";
  const pid_t child = fork();
  if (child == 0) {
    const Ran ran = run_real(
        "run --machine wse2 --layout first --set wafer.columns=64 --set wafer.rows=64 --gemm "
        "1024x1024x4096 --pattern unstructured:0.1 --why --quiet --no-cache --out " +
        (folder.path() / "out").string());
    const bool said = ran.err.find("interrupted while it was run again") != std::string::npos;
    _exit(said && ran.out.empty() ? ran.status : 99);
  }
  std::error_code none;
  std::set<std::uintmax_t> sizes;  // empty, with its head, with the run
  for (int i = 0; i < 60000 && sizes.size() < 2; ++i) {
    usleep(1000);
    const std::uintmax_t size = fs::file_size(journal, none);
    if (!none && size > 0) sizes.insert(size);
  }
  usleep(500000);  // of the seconds that it takes to ask why
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(fs::exists(journal));
}

// What is taken from other runs is what a run by itself has.
TEST_F(WhyRunsOfTwoRows, TimesAreThoseOfRunsByThemselves) {
  const Why found = why(run({}));
  EXPECT_FALSE(found.alone.empty());
  for (const WhyAlone& each : found.alone) {
    if (!each.not_run.empty()) continue;
    EXPECT_EQ(cycles(run(each.settings)), each.time) << each.cause;
  }
  for (const WhyStep& step : found.ladder) {
    EXPECT_EQ(cycles(run(step.settings)), step.time) << step.cause;
  }
}

}  // namespace
}  // namespace lacuna::test

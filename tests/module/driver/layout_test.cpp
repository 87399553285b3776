// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kWafer =
    "--machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --gemm 96x96x60 "
    "--pattern unstructured:0.2 --residency streamed";
const char* const kChip =
    "--machine bow --set ipu.tiles=32 --gemm 128x128x64 --pattern block16:0.25";

/// The column of the only operation.
std::string cell(const std::string& folder, const std::string& column) {
  std::istringstream lines(file_text(folder + "/summary.csv"));
  std::string names;
  std::string values;
  std::getline(lines, names);
  std::getline(lines, values);
  std::istringstream name(names);
  std::istringstream value(values);
  std::string n;
  std::string v;
  while (std::getline(name, n, ',') && std::getline(value, v, ',')) {
    if (n == column) return v;
  }
  return {};
}

std::uint64_t cycles(const ProgramBench& bench, const std::string& line, const std::string& name) {
  const Ran ran = run_real("run " + line + " --quiet --out " + bench.path(name));
  EXPECT_EQ(ran.status, 0) << line << '\n' << ran.err << ran.out;
  const std::string text = cell(bench.path(name), "cycles");
  return text.empty() ? 0 : std::stoull(text);
}

// Planned is where the climb begins, and these are changes that it may make.
TEST(Layout, BestIsNotSlowerThanPlannedNorThanChangesOfTheFirst) {
  const ProgramBench bench;
  for (const std::string line : {kWafer, kChip}) {
    const std::uint64_t planned = cycles(bench, line, "planned");
    const std::uint64_t best = cycles(bench, line + " --layout best", "best");
    const std::uint64_t first = cycles(bench, line + " --layout first", "first");
    EXPECT_LE(best, planned) << line;
    EXPECT_LT(best, first) << line;
    const std::string found = file_text(bench.path("best/layouts.yaml"));
    EXPECT_THAT(found, HasSubstr("layout: {"));
    for (const std::string change :
         {"ws.lookahead=128", "ws.lookahead=4", "ws.row_order=natural", "ws.reduce=chain",
          "ws.groups=2", "ws.k_partition=cyclic", "planner.static_parts=1",
          "planner.static_parts=2", "planner.static_bands=1", "planner.static_bands=2"}) {
      if ((change[0] == 'w') != (line == kWafer)) continue;
      EXPECT_LE(best, cycles(bench, line + " --layout first --set " + change, "other")) << change;
    }
  }
}

// A second process takes what the first has found, of the same machine and operation alone.
TEST(Layout, WhatBestFindsIsKeptForLaterRuns) {
  namespace fs = std::filesystem;
  const ProgramBench bench;
  const std::string folder = bench.path("kept");
  const auto records = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  };
  setenv("LACUNA_CACHE", folder.c_str(), 1);
  const std::string line = std::string("run --quiet ") + kChip + " --layout best";
  const char* const kKnown = "cycles in the best layout known, ";
  EXPECT_THAT(run_real(std::string("run ") + kChip).err, Not(HasSubstr(kKnown)));
  const Ran first = run_real(line);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(run_real(std::string("run ") + kChip).err, HasSubstr(kKnown));
  EXPECT_THAT(run_real(std::string("run --no-cache ") + kChip).err, Not(HasSubstr(kKnown)));
  EXPECT_EQ(records(), 1U);
  EXPECT_EQ(run_real(line).out, first.out);
  EXPECT_EQ(records(), 1U);
  EXPECT_EQ(run_real(line + " --no-cache --set tile.workers=5").status, 0);
  EXPECT_EQ(records(), 1U);
  EXPECT_EQ(run_real(line + " --set tile.workers=5").status, 0);
  EXPECT_EQ(records(), 2U);
  // what is no record is not taken
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) std::ofstream(entry.path().string()) << "no record";
  }
  EXPECT_EQ(run_real(line).out, first.out) << "searched again";
  setenv("LACUNA_CACHE", "", 1);
}

TEST(Layout, AFileReplaysWhatWasFound) {
  const ProgramBench bench;
  for (const std::string line : {kWafer, kChip}) {
    const std::uint64_t best = cycles(bench, line + " --layout best", "best");
    const std::string file = bench.path("best/layouts.yaml");
    EXPECT_EQ(cycles(bench, line + " --layout " + file, "again"), best);
    EXPECT_EQ(file_text(bench.path("again/layouts.yaml")).substr(0, 80),
              file_text(file).substr(0, 80));
  }
}

// What was found on another part of the machine, or for another row, is not taken for this one's.
TEST(Layout, AFileSaysForWhatItWasFound) {
  const ProgramBench bench;
  cycles(bench, std::string(kWafer) + " --layout best", "best");
  const std::string text = file_text(bench.path("best/layouts.yaml"));
  EXPECT_THAT(text, HasSubstr("extent: \"12 x 6 of 850000 cores\""));
  const std::string file = " --quiet --wide --layout " + bench.path("best/layouts.yaml");
  const char* const kRemark = "was found for 12 x 6 of 850000 cores, and this is 12 x 8 of 850000";
  std::string more_rows = kWafer;
  more_rows.replace(more_rows.find("rows=6"), 6, "rows=8");
  EXPECT_THAT(run_real("run " + more_rows + file).out, HasSubstr(kRemark));
  EXPECT_THAT(run_real("run " + std::string(kWafer) + file).out, Not(HasSubstr("was found for")));
  std::string wider = kWafer;
  wider.replace(wider.find("96x96x60"), 8, "96x96x61");
  const Ran other = run_real("run " + wider + file);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("best/layouts.yaml:3:5 is of n 60, not 61)"));
  // of two layouts one is of a row that is not here
  const std::string two = bench.file("two.yaml", text + "  - {id: other, layout: {}}\n");
  EXPECT_THAT(run_real("run " + std::string(kWafer) + " --layout " + two).err,
              HasSubstr("lacuna: 1 of 2 layouts of " + two + " are of no row here: " + two + ":"));
  EXPECT_THAT(run_real("run " + std::string(kWafer) + file).err, Not(HasSubstr("no row here")));
  const std::string twice = "{machine: wse2, extent: a, extent: b, layout: {}}";
  EXPECT_THAT(run_real("run " + std::string(kWafer) + " --layout " +
                       bench.file("l.yaml", "layouts:\n  - " + twice + "\n"))
                  .err,
              HasSubstr("'extent' is given twice"));
}

// Numbers are carried and compared in the layout that was found.
TEST(Layout, ProductsAreRightAtTheirBestLayout) {
  for (const std::string line : {kWafer, kChip}) {
    const Ran ran = run_real("run " + line + " --layout best --values --wide");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("values equal the reference product"));
    EXPECT_THAT(ran.out, HasSubstr("times as fast as planned"));
  }
}

TEST(Layout, RefusesWhatItDoesNotUnderstand) {
  const ProgramBench bench;
  const auto refused = [&](const std::string& layout, const std::string& line = kWafer) {
    return run_real("run " + line + " --quiet --wide --layout " + layout);
  };
  EXPECT_THAT(refused("bets").err, HasSubstr("allowed: planned, first, best, best:N, or a file"));
  EXPECT_THAT(refused("bets").err, HasSubstr("did you mean 'best'?"));
  const auto file = [&](const std::string& text) { return bench.file("l.yaml", text); };
  const Ran none = refused(file("layouts: []\n"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("has no layout for 'gemm'"));
  EXPECT_THAT(refused(file("layouts:\n  - {machine: wse2, layout: {ws.grups: 2}}\n")).err,
              HasSubstr("l.yaml:2:30: 'ws.grups' is no choice of a product with weights"));
  EXPECT_THAT(refused(file("layouts:\n  - {machin: wse2, layout: {}}\n")).err,
              HasSubstr("l.yaml:2:6: found 'machin'; allowed: machine, id"));
  EXPECT_THAT(refused(file("layouts:\n  - {machine: wse2}\n")).err, HasSubstr("has no `layout`"));
  EXPECT_THAT(refused(file("layouts:\n  - {layout: {ws.groups: 2}}\n  - {layout: {}}\n")).err,
              HasSubstr("l.yaml:3:5: also has a layout for 'gemm'"));
  EXPECT_THAT(refused(file("layouts:\n  - {layout: {ws.groups: many}}\n")).err,
              HasSubstr("ws.groups = 'many' is not a number"));
  // a layout that cannot be: twelve columns are no five groups
  const Ran five = refused(file("layouts:\n  - {layout: {ws.groups: 5}}\n"));
  EXPECT_EQ(five.status, 1);
  EXPECT_THAT(five.out + five.err, HasSubstr("layout ws.groups=5 ("));
  EXPECT_THAT(five.out + five.err, HasSubstr("wafer.columns = 12 are not a multiple of it"));
  EXPECT_THAT(refused("best", "--machine wse2 --model x.json --decode --context 8").err,
              HasSubstr("only layout planned is there"));
}

TEST(Layout, ASweepComparesPlannedWithBest) {
  const ProgramBench bench;
  const std::string file = bench.file(
      "s.yaml",
      "machine: wse2\ngemm: 96x96x60\npattern: unstructured\ndensity: 0.2\nresidency: streamed\n"
      "set: {wafer.columns: 12, wafer.rows: 6, io.share: 1}\ngrid: {layout: [planned, best]}\n");
  const Ran ran = run_real("sweep " + file + " --quiet --jobs 2 --out " + bench.path("out"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(printed_row(ran.out, "layout 1").back(), "best");  // where it is mostly fastest
  EXPECT_THAT(run_real("sweep " + file + " --quiet --wide --layout best").err,
              HasSubstr("--layout: is given in"));
}

// The bench's folder is not the one that the program runs in. Two groups of twelve columns are what
// the file says.
TEST(Layout, ASweepFindsAFileOfLayoutsBesideIt) {
  const ProgramBench bench;
  bench.file("two.yaml", "layouts:\n  - {m: 96, layout: {ws.groups: 2}}\n");
  const std::string file = bench.file(
      "s.yaml",
      "machine: wse2\ngemm: 96x96x60\npattern: unstructured\ndensity: 0.2\nresidency: streamed\n"
      "set: {wafer.columns: 12, wafer.rows: 6, io.share: 1}\ngrid: {layout: [planned, "
      "two.yaml]}\n");
  const Ran ran = run_real("sweep " + file + " --quiet --wide");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(printed_row(ran.out, "1 two.yaml"), Contains("ws.groups=2"));
  // no file has that name, and a result can be kept
  const Ran kept = run_real(
      "compare --machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --quiet "
      "--gemm 96x96x60 --pattern dense --layout best:2 --out " +
      bench.path("kept"));
  EXPECT_EQ(kept.status, 0) << kept.err;
}

// With a budget of one there is no climb: the planned layout, which is one of several that were
// simulated. How they were simulated is no part of it.
TEST(Layout, BestOfOneIsThePlannedOneHoweverItIsSimulated) {
  const ProgramBench bench;
  const std::string line =
      "--machine wse2 --set wafer.columns=3 --set wafer.rows=16 --gemm 128x128x256 --no-cache "
      "--pattern causal ";
  const std::uint64_t planned = cycles(bench, line, "planned");
  EXPECT_EQ(cycles(bench, line + "--layout best:1", "best"), planned);
  EXPECT_EQ(cycles(bench, line + "--layout best:1 --fold off", "unfolded"), planned);
  EXPECT_EQ(cycles(bench, line + "--layout best:1 --engine clocked", "clocked"), planned);
}

// The dense run has a layout of its own, which the file has too.
TEST(Layout, AFileHoldsTheLayoutsOfDenseRunsToo) {
  const ProgramBench bench;
  for (const std::string line : {kWafer, kChip}) {
    const std::string asked = line + " --with-dense --layout ";
    const std::uint64_t best = cycles(bench, asked + "best:2", "best");
    const std::string file = bench.path("best/layouts.yaml");
    EXPECT_EQ(cycles(bench, asked + file, "again"), best);
    EXPECT_EQ(cell(bench.path("again"), "speedup_vs_dense"),
              cell(bench.path("best"), "speedup_vs_dense"));
    EXPECT_EQ(run_real("run " + asked + file).err.find("of no row here"), std::string::npos);
  }
}

TEST(Layout, SpacesAreDescribedAsTheyAreSearched) {
  const Ran ran = run_real("describe layouts --wide");
  EXPECT_EQ(ran.status, 0);
  for (const MachineKind& kind : standard_machines()) {
    const auto machine = kind.make(kind.kind);
    const auto& plans = dynamic_cast<const PlansLayouts&>(*machine);
    ASSERT_FALSE(plans.layouts().empty());
    for (const LayoutSpace& space : plans.layouts()) {
      EXPECT_THAT(ran.out, HasSubstr(space.kind));
      for (const LayoutChoice& choice : space.choices) {
        EXPECT_THAT(ran.out, HasSubstr(choice.key));
        if (choice.key == kResidencyKey) continue;
        // a value that the parameter does not take would be refused at each point
        for (const std::string& value : choice.values) {
          EXPECT_NO_THROW(kind.make(kind.kind)->set(choice.key, value, "test")) << choice.key;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::test

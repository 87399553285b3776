// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

const char* const kMachine =
    "run --machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --quiet --wide ";

/// Two products with a function between them, and one that takes from the second directly.
std::string joint_trace(const ProgramBench& bench, const std::string& residency = "streamed") {
  const std::string product = "spmm,fwd,96,96,60,fp16,,unstructured,0.2," + residency + ",";
  return bench.file("rows.csv",
                    "# lacuna-trace v1\n"
                    "id,op,phase,m,k,n,dtype,fn,pattern,density,residency,depends_on\n"
                    "a," +
                        product +
                        "\n"
                        "act,eltwise,fwd,96,,60,fp16,gelu,dense,1,,a\n"
                        "b," +
                        product +
                        "act\n"
                        "c," +
                        product + "b\n");
}

using Cycles = std::map<std::string, std::uint64_t>;

/// Of each row, by id, and of all.
Cycles joint_cycles(const ProgramBench& bench, const std::string& more,
                    const std::string& residency = "streamed") {
  const bool laid_out = more.find("--layout") != std::string::npos;
  const Ran ran = run_real(kMachine + ("--trace " + joint_trace(bench, residency)) + " --out " +
                           bench.path("out") + (laid_out ? " " : " --layout first ") + more);
  EXPECT_EQ(ran.status, 0) << more << '\n' << ran.err << ran.out;
  return cycles_by_row(bench.path("out"));
}

std::string joint_layouts(const ProgramBench& bench, const std::string& a, const std::string& b,
                          const std::string& c) {
  return "--layout " +
         bench.file("l.yaml", "layouts:\n  - {id: a, layout: {" + a + "}}\n  - {id: b, layout: {" +
                                  b + "}}\n  - {id: c, layout: {" + c + "}}\n");
}

// c takes from b where b left it: as without a file where both lie alike, and with a move before it
// where they do not, whichever of the two is in groups. What b takes does not depend on c.
TEST(JointLayouts, WhatLiesOtherwiseThanItIsTakenIsMovedAndPaidFor) {
  const ProgramBench bench;
  const Cycles planned = joint_cycles(bench, "");
  const Cycles two = joint_cycles(bench, "--set ws.groups=2");
  const std::string groups = "ws.groups: 2";
  EXPECT_EQ(joint_cycles(bench, joint_layouts(bench, "", "", "")), planned);
  EXPECT_EQ(joint_cycles(bench, joint_layouts(bench, groups, groups, groups)), two);
  const Cycles of_b = joint_cycles(bench, joint_layouts(bench, "", groups, ""));
  EXPECT_EQ(of_b.at("a"), planned.at("a"));
  EXPECT_EQ(of_b.at("act"), planned.at("act")) << "a lies in blocks, as functions have it";
  EXPECT_EQ(of_b.at("b"), two.at("b")) << "a function leaves its result in blocks in both";
  EXPECT_GT(of_b.at("c"), planned.at("c"));
  const Cycles of_c = joint_cycles(bench, joint_layouts(bench, "", "", groups));
  EXPECT_EQ(of_c.at("b"), planned.at("b"));
  EXPECT_GT(of_c.at("c"), two.at("c"));
  const Cycles of_a = joint_cycles(bench, joint_layouts(bench, groups, "", ""));
  EXPECT_EQ(of_a.at("act"), two.at("act")) << "from groups to blocks";
  EXPECT_GT(of_a.at("act"), planned.at("act"));
  EXPECT_EQ(of_a.at("b"), planned.at("b"));
  EXPECT_EQ(of_a.at("c"), planned.at("c"));
}

// Planned is one of the choices, and so is a number of groups for one row alone: together the rows
// are as fast as with any of these, and a file says it again.
TEST(JointLayouts, AreTogetherNoSlowerThanPlannedOrThanGroupsOfOneRow) {
  const ProgramBench bench;
  const Cycles best = joint_cycles(bench, "--layout best");
  const std::string found = file_text(bench.path("out/layouts.yaml"));
  EXPECT_LT(best.at("TOTAL"), joint_cycles(bench, "").at("TOTAL"));
  for (const std::string groups : {"ws.groups: 2", "ws.groups: 3"}) {
    EXPECT_LE(best.at("TOTAL"),
              joint_cycles(bench, joint_layouts(bench, groups, "", "")).at("TOTAL"));
    EXPECT_LE(best.at("TOTAL"),
              joint_cycles(bench, joint_layouts(bench, "", groups, "")).at("TOTAL"));
    EXPECT_LE(best.at("TOTAL"),
              joint_cycles(bench, joint_layouts(bench, "", "", groups)).at("TOTAL"));
    EXPECT_LE(best.at("TOTAL"),
              joint_cycles(bench, joint_layouts(bench, groups, groups, groups)).at("TOTAL"));
  }
  EXPECT_EQ(joint_cycles(bench, "--layout " + bench.file("found.yaml", found)), best);
}

// Weights that may choose where they live have no choice in groups that cannot hold them:
// activations would be copied to the groups from the middle row, which no program does.
TEST(JointLayouts, WeightsThatMayChooseAreStreamedInGroupsThatCannotHoldThem) {
  const ProgramBench bench;
  const std::string middle = "ws.groups: 2, ws.inject: middle_row";
  const std::string all = joint_layouts(bench, middle, middle, middle);
  EXPECT_EQ(joint_cycles(bench, all, ""), joint_cycles(bench, all, "streamed"));
}

TEST(JointLayouts, CopiesThatNoHardwareMakesAreCalledIdealised) {
  const std::string line =
      "run --machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --quiet "
      "--wide "
      "--gemm 96x96x60 --pattern unstructured:0.2 --set ws.groups=3 --set ws.share=tokens "
      "--set ws.lie=interleaved ";
  const Ran ideal = run_real(line + "--set ws.copies=idealised");
  EXPECT_EQ(ideal.status, 0) << ideal.err;
  EXPECT_THAT(ideal.out, HasSubstr("exact, idealised machine"));
  EXPECT_THAT(ideal.out, HasSubstr("idealised (ws.copies)"));
  EXPECT_EQ(run_real(line).out.find("idealised"), std::string::npos);
}

}  // namespace
}  // namespace lacuna::test

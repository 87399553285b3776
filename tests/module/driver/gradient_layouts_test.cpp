// SPDX-License-Identifier: Apache-2.0
// Layouts of the backward rows of a layer: what they take is moved if it lies elsewhere.
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

const char* const kWafer =
    "run --machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --quiet ";

/// Y = W X, dX = W^T dY and dW = dY X^T of a sparse layer, and the row that makes dY.
std::string step(const ProgramBench& bench) {
  return bench.file("step.csv",
                    "# lacuna-trace v1\n"
                    "id,op,layer,phase,m,k,n,dtype,pattern,density,pattern_args,fn,depends_on\n"
                    "y,spmm,l,fwd,72,96,60,fp16,unstructured,0.2,,,\n"
                    "dy,eltwise,a,bwd,72,,60,fp16,,,,gelu,-\n"
                    "dx,spmm,l,bwd,96,72,60,fp16,ref,,of=y;transpose=1,,dy\n"
                    "dw,sddmm,l,bwd,72,60,96,fp16,ref,,of=y,,dy\n");
}

using Cycles = std::map<std::string, std::uint64_t>;

/// Of each row, by id, and of all.
Cycles cycles(const ProgramBench& bench, const std::string& more) {
  const Ran ran =
      run_real(kWafer + ("--trace " + step(bench)) + " --out " + bench.path("out") + " " + more);
  EXPECT_EQ(ran.status, 0) << more << '\n' << ran.err << ran.out;
  return cycles_by_row(bench.path("out"));
}

std::string layouts(const ProgramBench& bench, const std::string& y, const std::string& dx,
                    const std::string& dw) {
  return "--layout " +
         bench.file("l.yaml", "layouts:\n  - {id: y, layout: {" + y + "}}\n  - {id: dx, layout: {" +
                                  dx + "}}\n  - {id: dw, layout: {" + dw + "}}\n");
}

// dW takes X where y held it and dY where dx did: without a move where all lie alike, and with one
// for each of the two that lies otherwise. Groups that share rows have all of both each, and each
// takes the rows of dY that it makes, so that nothing is moved to as many groups.
TEST(GradientLayouts, DyAndXAreMovedFromWhereProductsHeldThem) {
  const ProgramBench bench;
  const Cycles planned = cycles(bench, "");
  const Cycles two = cycles(bench, "--set ws.groups=2");
  const std::string groups = "ws.groups: 2";
  EXPECT_EQ(cycles(bench, layouts(bench, "", "", "")), planned);
  EXPECT_EQ(cycles(bench, layouts(bench, groups, groups, groups)), two);
  const std::string cyclic = "ws.k_partition: cyclic";
  const Cycles dealt = cycles(bench, "--set ws.k_partition=cyclic");
  EXPECT_EQ(cycles(bench, layouts(bench, cyclic, cyclic, cyclic)).at("dw"), dealt.at("dw"));

  const std::uint64_t of_x = cycles(bench, layouts(bench, cyclic, "", "")).at("dw");
  const std::uint64_t of_dy = cycles(bench, layouts(bench, "", cyclic, "")).at("dw");
  EXPECT_GT(of_x, planned.at("dw"));
  EXPECT_GT(of_dy, planned.at("dw"));
  const std::uint64_t of_both = cycles(bench, layouts(bench, cyclic, cyclic, "")).at("dw");
  EXPECT_EQ(of_both - planned.at("dw"), of_x - planned.at("dw") + (of_dy - planned.at("dw")))
      << "one after the other";
  // from one group to two, and back to one that has it already
  EXPECT_GT(cycles(bench, layouts(bench, "", "", groups)).at("dw"), two.at("dw"));
  const Cycles dw_alone = cycles(bench, layouts(bench, "", "", groups));
  EXPECT_EQ(dw_alone.at("dx"), planned.at("dx")) << "what comes later does not matter";
}

TEST(GradientLayouts, BothEnginesMoveAlikeAndValuesHold) {
  const ProgramBench bench;
  const std::string mixed = layouts(bench, "ws.groups: 3", "ws.k_partition: balanced",
                                    "ws.groups: 2, ws.lie: "
                                    "interleaved");
  const Cycles event = cycles(bench, mixed);
  EXPECT_EQ(cycles(bench, mixed + " --engine clocked"), event);
  EXPECT_EQ(cycles(bench, mixed + " --values"), event);
}

// Planned is one of the choices; what was found is found again in its file.
TEST(GradientLayouts, BestIsNoSlowerThanPlannedOrThanGroupsAndIsReplayed) {
  const ProgramBench bench;
  const Cycles best = cycles(bench, "--layout best");
  const std::string found = file_text(bench.path("out/layouts.yaml"));
  EXPECT_THAT(found, HasSubstr("dw"));
  EXPECT_THAT(found, HasSubstr("dx"));
  EXPECT_LT(best.at("TOTAL"), cycles(bench, "").at("TOTAL"));
  for (const std::string groups : {"ws.groups: 2", "ws.groups: 3"}) {
    EXPECT_LE(best.at("TOTAL"), cycles(bench, layouts(bench, groups, groups, groups)).at("TOTAL"));
    EXPECT_LE(best.at("TOTAL"), cycles(bench, layouts(bench, "", "", groups)).at("TOTAL"));
  }
  EXPECT_EQ(cycles(bench, "--layout " + bench.file("found.yaml", found)), best);
}

// The left operand of a dense gradient has left the wafer, which is not charged: it has one layout,
// and a file that has another for it is refused.
TEST(GradientLayouts, OfDenseWeightsAreRefusedByName) {
  const ProgramBench bench;
  const std::string dense = bench.file("dense.csv",
                                       "# lacuna-trace v1\n"
                                       "id,op,layer,phase,m,k,n,dtype,fn,depends_on\n"
                                       "y,gemm,l,fwd,72,96,60,fp16,,\n"
                                       "dw,bmm,l,bwd,72,60,96,fp16,dot,y\n");
  const auto run = [&](const std::string& dw) {
    return run_real(
        kWafer + ("--trace " + dense) + " --layout " +
        bench.file("l.yaml",
                   "layouts:\n  - {id: y, layout: {}}\n  - {id: dw, layout: {" + dw + "}}\n"));
  };
  EXPECT_EQ(run("").status, 0);
  const Ran other = run("ws.groups: 2");
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr("l.yaml:3"));
  EXPECT_THAT(other.err, HasSubstr("'dw' (bmm, 72 x 60 x 96, dense) has one layout on wse2"));
}

}  // namespace
}  // namespace lacuna::test

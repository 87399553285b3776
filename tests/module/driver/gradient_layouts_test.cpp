// SPDX-License-Identifier: Apache-2.0
// Layouts of the backward rows of a layer, gradients of sparse and of dense weights among them:
// what they take is moved if it lies elsewhere.
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

const char* const kGradientWafer =
    "run --machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --quiet ";

enum class Weights { sparse, dense };

/// Y = W X, dX = W^T dY and dW = dY X^T of a layer, and the row that makes dY.
std::string step(const ProgramBench& bench, Weights weights) {
  const std::string head = "# lacuna-trace v1\n";
  if (weights == Weights::dense) {
    return bench.file("dense.csv", head +
                                       "id,op,layer,phase,m,k,n,dtype,fn,depends_on\n"
                                       "y,gemm,l,fwd,72,96,60,fp16,,\n"
                                       "dy,eltwise,a,bwd,72,,60,fp16,gelu,-\n"
                                       "dx,gemm,l,bwd,96,72,60,fp16,,dy\n"
                                       "dw,bmm,l,bwd,72,60,96,fp16,dot,dy\n");
  }
  return bench.file("step.csv", head +
                                    "id,op,layer,phase,m,k,n,dtype,pattern,density,pattern_args,"
                                    "fn,depends_on\n"
                                    "y,spmm,l,fwd,72,96,60,fp16,unstructured,0.2,,,\n"
                                    "dy,eltwise,a,bwd,72,,60,fp16,,,,gelu,-\n"
                                    "dx,spmm,l,bwd,96,72,60,fp16,ref,,of=y;transpose=1,,dy\n"
                                    "dw,sddmm,l,bwd,72,60,96,fp16,ref,,of=y,,dy\n");
}

using Cycles = std::map<std::string, std::uint64_t>;

/// Of each row, by id, and of all.
Cycles row_cycles(const ProgramBench& bench, const std::string& trace, const std::string& more) {
  const bool laid_out = more.find("--layout") != std::string::npos;
  const Ran ran = run_real(kGradientWafer + ("--trace " + trace) + " --out " + bench.path("out") +
                           (laid_out ? " " : " --layout first ") + more);
  EXPECT_EQ(ran.status, 0) << more << '\n' << ran.err << ran.out;
  return cycles_by_row(bench.path("out"));
}

Cycles step_cycles(const ProgramBench& bench, const std::string& more,
                   Weights weights = Weights::sparse) {
  return row_cycles(bench, step(bench, weights), more);
}

std::string gradient_layouts(const ProgramBench& bench, const std::string& y, const std::string& dx,
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
  const Cycles planned = step_cycles(bench, "");
  const Cycles two = step_cycles(bench, "--set ws.groups=2");
  const std::string groups = "ws.groups: 2";
  EXPECT_EQ(step_cycles(bench, gradient_layouts(bench, "", "", "")), planned);
  EXPECT_EQ(step_cycles(bench, gradient_layouts(bench, groups, groups, groups)), two);
  const std::string cyclic = "ws.k_partition: cyclic";
  const Cycles dealt = step_cycles(bench, "--set ws.k_partition=cyclic");
  EXPECT_EQ(step_cycles(bench, gradient_layouts(bench, cyclic, cyclic, cyclic)).at("dw"),
            dealt.at("dw"));

  const std::uint64_t of_x = step_cycles(bench, gradient_layouts(bench, cyclic, "", "")).at("dw");
  const std::uint64_t of_dy = step_cycles(bench, gradient_layouts(bench, "", cyclic, "")).at("dw");
  EXPECT_GT(of_x, planned.at("dw"));
  EXPECT_GT(of_dy, planned.at("dw"));
  const std::uint64_t of_both =
      step_cycles(bench, gradient_layouts(bench, cyclic, cyclic, "")).at("dw");
  EXPECT_EQ(of_both - planned.at("dw"), of_x - planned.at("dw") + (of_dy - planned.at("dw")))
      << "one after the other";
  // from one group to two, and back to one that has it already
  EXPECT_GT(step_cycles(bench, gradient_layouts(bench, "", "", groups)).at("dw"), two.at("dw"));
  const Cycles dw_alone = step_cycles(bench, gradient_layouts(bench, "", "", groups));
  EXPECT_EQ(dw_alone.at("dx"), planned.at("dx")) << "what comes later does not matter";
}

// What moves a dense gradient is: X from where y held it, and dY from where dx did, to the blocks
// of functions; from there dY leaves and X is turned, and X goes as from a function of its tokens.
TEST(GradientLayouts, OfDenseWeightsGoByWayOfTheBlocksOfFunctions) {
  const ProgramBench bench;
  const auto of = [&](const std::string& y, const std::string& dx, const std::string& dw) {
    return step_cycles(bench, gradient_layouts(bench, y, dx, dw), Weights::dense).at("dw");
  };
  const Cycles planned = step_cycles(bench, "", Weights::dense);
  EXPECT_EQ(step_cycles(bench, gradient_layouts(bench, "", "", ""), Weights::dense), planned);
  const std::string cyclic = "ws.k_partition: cyclic";
  EXPECT_EQ(of(cyclic, cyclic, cyclic),
            step_cycles(bench, "--set ws.k_partition=cyclic", Weights::dense).at("dw"));

  // y holds 96 features of 60 tokens as dx leaves them
  const auto taken_by_a_function = [&](const std::string& features, const std::string& dx) {
    const std::string rows =
        "# lacuna-trace v1\nid,op,m,k,n,dtype,fn,depends_on\n"
        "dx,gemm," +
        features + ",72,60,fp16,,\nz,eltwise," + features + ",,60,fp16,gelu,dx\n";
    const std::string file = bench.file("z.yaml", "layouts:\n  - {id: dx, layout: {" + dx + "}}\n");
    return row_cycles(bench, bench.file("z.csv", rows), "--layout " + file).at("z");
  };
  const std::uint64_t of_x = of(cyclic, "", "") - planned.at("dw");
  const std::uint64_t of_dy = of("", cyclic, "") - planned.at("dw");
  EXPECT_GT(of_x, 0U);
  EXPECT_EQ(of_x, taken_by_a_function("96", cyclic) - taken_by_a_function("96", ""));
  EXPECT_EQ(of_dy, taken_by_a_function("72", cyclic) - taken_by_a_function("72", ""));
  EXPECT_EQ(of(cyclic, cyclic, "") - planned.at("dw"), of_x + of_dy) << "one after the other";

  // dW is a product of 60 features, the tokens, behind a function of as many
  const std::string product = bench.file("p.csv",
                                         "# lacuna-trace v1\nid,op,m,k,n,dtype,fn,depends_on\n"
                                         "f,eltwise,60,,96,fp16,gelu,\n"
                                         "p,gemm,72,60,96,fp16,,f\n");
  for (const std::string own :
       {"ws.groups: 2", "ws.groups: 3, ws.lie: interleaved", "ws.groups: 2, ws.share: tokens",
        "ws.k_partition: cyclic", "ws.inject: middle_row"}) {
    const std::string file = bench.file("p.yaml", "layouts:\n  - {id: p, layout: {" + own + "}}\n");
    EXPECT_EQ(of("", "", own),
              row_cycles(bench, product, "--residency streamed --layout " + file).at("p"))
        << own;
  }
}

TEST(GradientLayouts, BothEnginesMoveAlikeAndValuesHold) {
  const ProgramBench bench;
  const std::string mixed = gradient_layouts(bench, "ws.groups: 3", "ws.k_partition: balanced",
                                             "ws.groups: 2, ws.lie: "
                                             "interleaved");
  for (const Weights weights : {Weights::sparse, Weights::dense}) {
    const Cycles event = step_cycles(bench, mixed, weights);
    EXPECT_EQ(step_cycles(bench, mixed + " --engine clocked", weights), event);
    EXPECT_EQ(step_cycles(bench, mixed + " --values", weights), event);
  }
}

// Planned is one of the choices; what was found is found again in its file.
TEST(GradientLayouts, BestIsNoSlowerThanPlannedOrThanGroupsAndIsReplayed) {
  const ProgramBench bench;
  for (const Weights weights : {Weights::sparse, Weights::dense}) {
    const auto total = [&](const std::string& more) {
      return step_cycles(bench, more, weights).at("TOTAL");
    };
    const Cycles best = step_cycles(bench, "--layout best", weights);
    const std::string found = file_text(bench.path("out/layouts.yaml"));
    EXPECT_THAT(found, HasSubstr("id: dw"));
    EXPECT_THAT(found, HasSubstr("id: dx"));
    EXPECT_LT(best.at("TOTAL"), total(""));
    for (const std::string groups : {"ws.groups: 2", "ws.groups: 3"}) {
      EXPECT_LE(best.at("TOTAL"), total(gradient_layouts(bench, groups, groups, groups)));
      EXPECT_LE(best.at("TOTAL"), total(gradient_layouts(bench, "", "", groups)));
    }
    EXPECT_EQ(step_cycles(bench, "--layout " + bench.file("found.yaml", found), weights), best);
  }
}

// Of zeros of X a dense gradient leaves out X is streamed, and it is dY that is turned: where all
// lies in blocks nothing moves, with other partitions both operands go to blocks, dY from there.
TEST(GradientLayouts, WithZerosOfXDyIsTurned) {
  const ProgramBench bench;
  const auto rows = [&](const std::string& layer) {
    return bench.file("x" + layer + ".csv",
                      "# lacuna-trace v1\n"
                      "id,op,layer,phase,m,k,n,dtype,fn,x_pattern,x_density,seed,depends_on\n"
                      "y,gemm,l,fwd,72,96,60,fp16,,,,,\n"
                      "dy,eltwise,a,bwd,72,,60,fp16,gelu,,,,-\n"
                      "dx,gemm,l,bwd,96,72,60,fp16,,,,,dy\n"
                      "dw," +
                          std::string("bmm,") + layer +
                          ",bwd,72,60,96,fp16,dot,bernoulli,0.5,5,dy\n");
  };
  const auto moved = [&](const std::string& setting) {
    return row_cycles(bench, rows("l"), setting).at("dw") -
           row_cycles(bench, rows("o"), setting).at("dw");  // of whose layer nothing is known
  };
  EXPECT_EQ(moved(""), 0U);
  const std::uint64_t balanced = moved("--set ws.k_partition=balanced");
  const std::uint64_t cyclic = moved("--set ws.k_partition=cyclic");
  EXPECT_GT(balanced, 0U);  // dY alone, by the zeros of X: dense products are balanced in blocks
  EXPECT_GT(cyclic, balanced);
  EXPECT_EQ(moved("--set ws.k_partition=cyclic --engine clocked"), cyclic);
}

// A row with one layout, here one that leaves out zeros of X, is named with another by mistake.
TEST(GradientLayouts, OfARowWithOneLayoutIsRefusedByName) {
  const ProgramBench bench;
  const std::string dense =
      bench.file("x.csv",
                 "# lacuna-trace v1\n"
                 "id,op,layer,phase,m,k,n,dtype,fn,x_pattern,x_density,depends_on\n"
                 "y,gemm,l,fwd,72,96,60,fp16,,,,\n"
                 "dw,bmm,l,bwd,72,60,96,fp16,dot,bernoulli,0.5,y\n");
  const auto run = [&](const std::string& dw) {
    return run_real(
        kGradientWafer + ("--trace " + dense) + " --layout " +
        bench.file("l.yaml",
                   "layouts:\n  - {id: y, layout: {}}\n  - {id: dw, layout: {" + dw + "}}\n"));
  };
  const Ran planned = run("");
  EXPECT_EQ(planned.status, 0) << planned.err;
  const Ran other = run("ws.groups: 2");
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr("l.yaml:3"));
  EXPECT_THAT(other.err, HasSubstr("'dw' (bmm, 72 x 60 x 96, dense) has one layout on wse2"));
}

}  // namespace
}  // namespace lacuna::test

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"
#include "sim/driver/validate/rules.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kRuleHeader =
    "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,source,confidence\n";

ValidationPlan plan_of(const std::string& rows) {
  return {parse_validation_points(kRuleHeader + rows, "my.csv"), {"bow", "gc200"}};
}

ValidationRunResult took(Cycle cycles) { return {Status::ok, "", cycles, 2.0}; }
ValidationRunResult no_room() { return {Status::out_of_memory, "too large", 0, 0}; }

TEST(ValidationRules, CreditsADenseRunAtADensityWithTheNonZeroWorkOnly) {
  const ValidationPlan plan =
      plan_of("P,Bow-IPUx1@1.85GHz,gemm,100,100,100,0.5,,FP16,dense,throughput,1,TFLOP/s,s,H\n");
  ASSERT_EQ(plan.runs().size(), 1U);
  EXPECT_EQ(plan.runs()[0].machine, "bow");
  EXPECT_EQ(plan.runs()[0].clock, "1.85");
  EXPECT_EQ(plan.runs()[0].op.pattern.name, "dense");
  // 2 * 100^3 * 0.5 = 10^6 operations in 1000 cycles of 0.5 ns
  EXPECT_DOUBLE_EQ(*plan.outcomes({took(1000)})[0].simulated, 2.0);
}

TEST(ValidationRules, DividesTheSparseRateByTheDenseOneOfTheSameShape) {
  const ValidationPlan plan =
      plan_of("P,Bow,spmm,64,64,16,0.25,16,FP16,static,speedup_vs_dense_IPU,1,x,s,H\n");
  ASSERT_EQ(plan.runs().size(), 2U);
  EXPECT_EQ(plan.runs()[0].op.pattern.name, "block");
  EXPECT_EQ(plan.runs()[0].op.pattern.block_rows, 16U);
  EXPECT_EQ(plan.runs()[0].op.mode, Mode::static_);
  EXPECT_EQ(plan.runs()[1].op.mode, Mode::dense);
  const auto outcomes = plan.outcomes({took(100), took(250)});
  EXPECT_DOUBLE_EQ(*outcomes[0].simulated, 2.5);
  EXPECT_TRUE(outcomes[0].ratio);
  EXPECT_EQ(plan.outcomes({no_room(), took(1)})[0].status, Status::out_of_memory);
  EXPECT_EQ(plan.outcomes({took(1), no_room()})[0].status, Status::out_of_memory);
}

// Planned, the product takes 150 cycles and the dense one 300: 2 times as fast. Laid out so, 100
// and 250: 2.5. The product alone laid out so would be compared with 300: 3.
TEST(ValidationRules, SayWhatALayoutThatWasChosenMakesOfAPoint) {
  const ValidationPlan plan =
      plan_of("P,Bow,spmm,64,64,16,0.25,16,FP16,static,speedup_vs_dense_IPU,1,x,s,H\n");
  const auto laid = [](Cycle cycles, Cycle planned) {
    return ValidationRunResult{Status::ok, "",           cycles,    2.0,       cycles + 10,
                               planned,    planned + 10, "parts=2", "a search"};
  };
  const ValidationOutcome outcome = plan.outcomes({laid(100, 150), laid(250, 300)})[0];
  EXPECT_DOUBLE_EQ(*outcome.simulated, 2.5);
  ASSERT_TRUE(outcome.laid_out);
  EXPECT_EQ(outcome.laid_out->layout, "parts=2");
  EXPECT_EQ(outcome.laid_out->cycles, 110U) << "with barriers, as the search counts them";
  EXPECT_EQ(outcome.laid_out->planned, 160U);
  EXPECT_DOUBLE_EQ(*outcome.laid_out->as_planned, 2.0);
  EXPECT_DOUBLE_EQ(*outcome.laid_out->alone, 3.0);
  EXPECT_FALSE(plan.outcomes({took(100), took(250)})[0].laid_out);
  EXPECT_FALSE(plan.outcomes({laid(100, 0), laid(250, 300)})[0].laid_out->as_planned)
      << "as planned it cannot be";
}

std::string cell(const ValidationOutcome& outcome, const std::string& column) {
  for (const auto& [name, value] : outcome.cells) {
    if (name == column) return value;
  }
  return "no such column";
}

TEST(ValidationRules, TakesTheBestOfEachMethodSeparately) {
  const ValidationPlan plan =
      plan_of("P,Bow,spmm,64,64,best,0.25,1,FP16,static,speedup_vs_dense,1,x,s,H\n");
  // 4, 16, 64, 256, 1024, 2048, 4096, 8192, 16384, 32768, 65536, each sparse and dense in turn
  ASSERT_EQ(plan.runs().size(), 22U);
  EXPECT_EQ(plan.runs()[0].op.n, 4U);
  EXPECT_EQ(plan.runs()[20].op.n, 65536U);
  std::vector<ValidationRunResult> results(22, no_room());
  results[0] = took(100);   // n = 4: 4 / 100 columns per cycle, the best sparse one
  results[2] = took(1000);  // n = 16: 0.016
  results[1] = took(400);   // n = 4: 0.01
  results[3] = took(800);   // n = 16: 0.02, the best dense one
  const auto outcomes = plan.outcomes(results);
  EXPECT_DOUBLE_EQ(*outcomes[0].simulated, 2.0);
  EXPECT_EQ(cell(outcomes[0], "best_n"), "4");
}

// Sparse products have the powers of four, dense ones all: n = 2048 is best in 1000 cycles, n =
// 1024 next in 1000. What the other series would say has a column of its own.
TEST(ValidationRules, LooksForTheBestInTheSeriesOfTheMethod) {
  const char* const point = "P,Bow,gemm,64,64,best,1,,FP16,{},throughput,1,TFLOP/s,s,H\n";
  const auto best = [&](const std::string& mode) {
    const ValidationPlan plan = plan_of(fmt::format(fmt::runtime(point), mode));
    std::vector<ValidationRunResult> results(plan.runs().size(), no_room());
    results[4] = took(1000);
    results[5] = took(1000);
    return plan.outcomes(results)[0];
  };
  // 2 * 64 * 64 * 1024 operations in 500 ns are 16.777216 TFLOP/s
  const ValidationOutcome sparse = best("static");
  EXPECT_DOUBLE_EQ(*sparse.simulated, 16.777216);
  EXPECT_EQ(cell(sparse, "best_n"), "1024");
  EXPECT_EQ(cell(sparse, "simulated_other_n"), "33.554432");
  const ValidationOutcome dense = best("dense");
  EXPECT_DOUBLE_EQ(*dense.simulated, 33.554432);
  EXPECT_EQ(cell(dense, "best_n"), "2048");
  EXPECT_EQ(cell(dense, "simulated_other_n"), "16.777216");
}

TEST(ValidationRules, DrawsMasksAsThePointOrItsBenchmarkSays) {
  const auto args = [](const std::string& workload, const std::string& rule) {
    const ValidationPlan plan(
        parse_validation_points(
            "id,system,workload,m,k,n,density,block,dtype,mode,mask_rule,metric,value,unit,source,"
            "confidence\nP,Bow," +
                workload + ",64,64,4,0.25,16,FP16,static," + rule + ",throughput,1,TFLOP/s,s,H\n",
            "my.csv"),
        {"bow"});
    std::string text;
    for (const auto& [key, value] : plan.runs()[0].op.pattern.args) text += key + "=" + value + " ";
    return text;
  };
  EXPECT_EQ(args("spmm", ""), "round=ceil ");
  EXPECT_EQ(args("spmm(popsparse)", ""), "round=ceil mask_rule=popsparse ");
  EXPECT_EQ(args("spmm(popsparse)", "uniform"), "round=ceil ");
  EXPECT_EQ(args("spmm", "popsparse:7"), "round=ceil mask_rule=popsparse rule_seed=7 ");
  EXPECT_THAT([&] { args("spmm", "sparse"); },
              ThrowsMessage<TraceError>(HasSubstr("mask_rule, one of uniform, popsparse")));
}

TEST(ValidationRules, RunsWhatSeveralPointsNeedOnce) {
  const ValidationPlan plan = plan_of(
      "P1,Bow,spmm,64,64,16,0.25,16,FP16,static,speedup_vs_dense,1,x,s,H\n"
      "P2,Bow,spmm,64,64,16,0.25,16,FP16,static,throughput,1,TFLOP/s,s,H\n"
      "P3,Bow,gemm,64,64,16,1,,FP16,dense,cycles,1,cycles,s,H\n"
      "P4,Bow@1.5GHz,gemm,64,64,16,1,,FP16,dense,time,1,us,s,H\n");
  EXPECT_EQ(plan.runs().size(), 3U);
  const auto outcomes = plan.outcomes({took(100), took(200), took(3000)});
  EXPECT_DOUBLE_EQ(*outcomes[0].simulated, 2.0);
  EXPECT_DOUBLE_EQ(*outcomes[2].simulated, 200);
  EXPECT_DOUBLE_EQ(*outcomes[3].simulated, 1.5);  // 3000 cycles of 0.5 ns, in microseconds
}

TEST(ValidationRules, SaysWhyAPointIsNoneOfAMachine) {
  const auto reason = [](const std::string& point) {
    return plan_of(point).outcomes({})[0].reason;
  };
  EXPECT_EQ(
      reason("P,IPU(training quality),BERT,,,,0.1,16,FP16.16,dynamic,MLM_loss,2.3,nats,s,H\n"),
      "metric 'MLM_loss': what training learns is not simulated");
  EXPECT_THAT(reason("P,IPU,BERT,,,,0.1,16,FP16,dynamic,FLOPs_metric,8e9,FLOP,s,H\n"),
              ::testing::HasSubstr("a count of operations by the publication's own rule"));
  EXPECT_EQ(reason("P,IPU,gemm,8,8,8,1,,FP16,dense,time,1,us,s,H\n"),
            "'IPU' names a kind of machine and not which one of it");
}

TEST(ValidationRules, TakesEachWordFromATableAndSaysWhichIsNotInIt) {
  const auto reason = [](const std::string& row) {
    return plan_of(row + "\n").outcomes({})[0].reason;
  };
  EXPECT_EQ(reason("P,A100-SXM4-40G,gemm,8,8,8,1,,FP16,dense,throughput,1,TFLOP/s,s,H"),
            "'A100-SXM4-40G' is not a machine of Lacuna");
  EXPECT_EQ(reason("P,Bow,BERT-base,8,8,8,1,,FP16,dense,throughput,1,TFLOP/s,s,H"),
            "the workload is not a product (gemm or spmm) or the inference of a model");
  EXPECT_THAT(reason("P,Bow,gemm,8,8,8,1,,FP61,dense,throughput,1,TFLOP/s,s,H"),
              HasSubstr("dtype 'fp61' is not one of fp16, fp16.16"));
  EXPECT_THAT(reason("P,Bow,gemm,8,8,8,1,,FP16,cusparse,throughput,1,TFLOP/s,s,H"),
              HasSubstr("mode 'cusparse' is not one of dense, static"));
  EXPECT_EQ(reason("P,Bow,gemm,8,8,8,1,,FP16,dense,throughput,1,cycles,s,H"),
            "unit 'cycles' does not fit metric 'throughput'");
  EXPECT_EQ(reason("P,Bow,gemm,8,8,,1,,FP16,dense,throughput,1,TFLOP/s,s,H"),
            "the shape is not given");
  for (const std::string sparse : {"0.1,,FP16,", "1,4,FP16,"}) {
    EXPECT_EQ(reason("P,Bow,spmm,8,8,8," + sparse + ",throughput,1,TFLOP/s,s,H"),
              "the mode of a product with zeros is not given: dense, static or dynamic");
  }
}

TEST(ValidationRules, ReadsTypesOfProductsAndPartials) {
  const ValidationPlan plan = plan_of(
      "P1,Bow,gemm,8,8,8,1,,fp16.32,dense,throughput,1,TFLOP/s,s,H\n"
      "P2,GC200-IPU,gemm,8,8,8,1,,FP32,dense,throughput,1,TFLOP/s,s,H\n");
  EXPECT_EQ(plan.runs()[0].op.dtype, DType::fp16);
  EXPECT_EQ(plan.runs()[0].op.partials, Partials::fp32);
  EXPECT_EQ(plan.runs()[1].machine, "gc200");
  EXPECT_EQ(plan.runs()[1].op.dtype, DType::fp32);
}

TEST(ValidationRules, RefusesABlockThatDoesNotDivide) {
  EXPECT_THAT([] { plan_of("P,Bow,spmm,65,64,16,0.25,16,FP16,static,throughput,1,TFLOP/s,s,H\n"); },
              ThrowsMessage<TraceError>(HasSubstr("my.csv:2: ")));
}

TEST(ValidationRules, KeepsTheFamiliesThatAreAskedFor) {
  ValidationPlan plan = plan_of(
      "P1,Bow,spmm,64,64,16,0.25,16,FP16,static,throughput,1,TFLOP/s,s,H\n"
      "P2,Bow,gemm,64,64,16,1,,FP16,dense,throughput,1,TFLOP/s,s,H\n");
  plan.keep_families({"gemm dense"});
  ASSERT_EQ(plan.points().size(), 1U);
  EXPECT_EQ(plan.points()[0].id, "P2");
  EXPECT_EQ(plan.runs().size(), 1U);
}

}  // namespace
}  // namespace lacuna

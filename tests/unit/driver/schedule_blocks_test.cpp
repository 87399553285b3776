// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/schedule/schedule_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/driver/validate/models.hpp"
#include "tests/support/csv_table.hpp"

namespace lacuna {
namespace {

BlockOutcome of_block(std::uint32_t block, double flop) {
  BlockOutcome outcome;
  outcome.block = block;
  outcome.flop = flop;
  outcome.dense_flop = 67041755136;
  outcome.steps = 10;
  outcome.machines = {{"bow", 2, 8, 100, 400, true}, {"wse2", 1, 1, 1, 1, false}};
  return outcome;
}

// arXiv 2108.06277, table 1: BERT-Base with s = 0.9.
TEST(ScheduleBlocks, PutThePublishedLossBesideEachBlock) {
  std::vector<BlockOutcome> outcomes = {of_block(1, 8334895104.0), of_block(16, 8328314880.0),
                                        of_block(2, 1e9)};
  add_published_losses("bert-base", 0.1, outcomes);
  EXPECT_EQ(outcomes[0].loss, 2.16);
  EXPECT_EQ(outcomes[1].loss, 2.311);
  EXPECT_EQ(outcomes[1].dense_loss, 2.35);
  EXPECT_FALSE(outcomes[2].loss.has_value());
  EXPECT_FALSE(outcomes[2].dense_loss.has_value());
}

// 8 s dense over 2 s are 4 times less; a machine that did not run everything has no numbers.
TEST(ScheduleBlocks, TabulateAndDrawWhatRan) {
  std::vector<BlockOutcome> outcomes = {of_block(16, 8328314880.0)};
  EXPECT_THAT(blocks_table(outcomes), testing::HasSubstr("published and not simulated"));
  // without a published loss there is nothing to draw, and gnuplot would refuse an empty figure
  EXPECT_TRUE(blocks_figures(outcomes).empty());
  outcomes[0].loss = 2.311;
  const Figure figure = blocks_figures(outcomes).at(0);
  std::vector<std::string> drawn_against_loss;
  const nlohmann::json description = nlohmann::json::parse(figure.description);
  for (const nlohmann::json& layer : description.at("layers")) {
    if (layer.value("y", "") == "published_loss") drawn_against_loss.push_back(layer.at("x"));
  }
  EXPECT_THAT(drawn_against_loss, testing::Contains("bow time"));
  const test::CsvTable drawn(figure.csv);
  EXPECT_EQ(drawn.cell("block"), "16");
  EXPECT_EQ(drawn.cell("published_loss"), "2.311");
  EXPECT_EQ(drawn.cell("bow time"), "0.25");
  EXPECT_EQ(drawn.cell("bow energy"), "0.25");
  EXPECT_EQ(drawn.cell("wse2 time"), "");
  EXPECT_EQ(drawn.cell("wse2 energy"), "");
}

ValidationPoint a_point(const std::string& workload, const std::string& dtype) {
  ValidationPoint point;
  point.workload = workload;
  point.dtype = dtype;
  point.metric = "throughput";
  point.unit = "samples/s";
  return point;
}

TEST(ModelInference, IsReadFromTheWordsOfAPoint) {
  const ValidationPoint point = a_point("BERT-base seq256 fused GELU real data batch=4", "FP8");
  ASSERT_TRUE(is_model_inference(point));
  const ModelInference model = model_inference(point);
  EXPECT_EQ(model.samples, 4);
  ASSERT_EQ(model.ops.size(), 20U);  // embedding: table, positions, types, norm; a layer
  EXPECT_EQ(model.ops[0].n, 1024U);  // 4 sequences of 256 tokens
  EXPECT_EQ(model.ops[4].dtype, DType::fp8);
  EXPECT_EQ(model.ops[0].op, "embed");
  EXPECT_EQ(model.ops[0].repeat, 1U);
  EXPECT_EQ(model.ops[4].repeat, 12U);
  EXPECT_EQ(model.ops[7].dtype, DType::fp16);  // the bias
  EXPECT_FALSE(is_model_inference(a_point("gemm", "FP16")));
  EXPECT_FALSE(model_inference(a_point("BERT-base seq128 packed max_valid 40 batch=16", "FP16"))
                   .unsupported.empty());
}

// 12 layers of two operations of 1,000 and 500 cycles at 1 GHz: 18 us for 4 samples.
TEST(ModelInference, CountsAllCyclesOfAllOperations) {
  const std::vector<ValidationRunResult> results = {{Status::ok, "", 900, 1.0, 1000},
                                                    {Status::ok, "", 400, 1.0, 500}};
  ValidationOutcome outcome;
  add_model({0, 1}, {12, 12}, 4, results, outcome);
  EXPECT_NEAR(*outcome.simulated, 4 / 18e-6, 1e-6);
}

}  // namespace
}  // namespace lacuna

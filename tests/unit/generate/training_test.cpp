// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::map<std::string, LayerOp> rows_of(const WorkloadTrace& trace) {
  std::map<std::string, LayerOp> rows;
  for (const LayerOp& op : trace.ops) rows[op.id] = op;
  return rows;
}

std::uint64_t updated_parameters(const std::string& model, const Pairs& settings) {
  std::uint64_t sum = 0;
  for (const LayerOp& op : generate_workload(model, settings).ops) {
    if (op.op == "optim") sum += std::uint64_t{op.m} * op.k * op.batch;
  }
  return sum;
}

// All that is trained is updated once: matrices, tables, biases and norms. The head is the table
// of tokens but for Llama, and the traces of BERT hold no pooler without their heads.
TEST(Training, UpdatesEveryParameterOfTheModelOnce) {
  for (const char* model : {"gpt2", "gpt2-xl", "gpt3-xl", "gpt3-175b", "opt-125m", "llama2-7b",
                            "llama2-70b", "llama3-8b"}) {
    EXPECT_EQ(
        updated_parameters(
            model, {{"part", "training"}, {"tokens", "8"}, {"embedding", "1"}, {"heads", "1"}}),
        parameter_count(find_model_shape(model)))
        << model;
  }
  for (const char* model : {"bert-tiny", "bert-base", "bert-large"}) {
    const ModelShape& shape = find_model_shape(model);
    const std::uint64_t d = shape.width;
    EXPECT_EQ(
        updated_parameters(model, {{"part", "training"}, {"tokens", "8"}, {"embedding", "1"}}),
        parameter_count(shape) - (d * d + d))
        << model;
  }
}

Pairs one_layer(const Pairs& more) {
  Pairs settings = {{"part", "training"}, {"tokens", "8"}, {"layers", "1"}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TEST(Training, LeavesVectorsOutOfWeightDecayAndTrustRatio) {
  const auto rows = rows_of(generate_workload("bert-tiny", one_layer({{"optimizer", "lamb"}})));
  EXPECT_EQ(rows.at("upd.l0.ffn1").fn, "lamb");
  EXPECT_EQ(rows.at("upd.l0.ln1").fn, "adam");
  EXPECT_EQ(rows.at("upd.l0.ln1").m, 256U);  // 128 gains and 128 offsets
  EXPECT_EQ(rows.at("upd.l0.qkv_bias").m, 384U);
}

TEST(Training, ConventionalRecipeKeepsAMasterCopy) {
  const auto rows = rows_of(
      generate_workload("bert-tiny", one_layer({{"recipe", "conventional"}, {"density", "0.25"}})));
  EXPECT_EQ(rows.at("fwd.l0.ln1").dtype, DType::fp32);
  EXPECT_EQ(rows.at("bwd.l0.softmax").dtype, DType::fp32);
  EXPECT_EQ(rows.at("fwd.l0.q").dtype, DType::fp16);
  const LayerOp& cast = rows.at("upd.l0.q_cast");
  EXPECT_EQ(cast.fn, "cast");
  EXPECT_EQ(cast.m, 4096U);  // a quarter of 128 * 128
}

TEST(Training, IpuMixedRecipeRoundsItsFp16WeightsByChance) {
  const auto rows = rows_of(generate_workload("bert-tiny", one_layer({{"recipe", "ipu-mixed"}})));
  EXPECT_EQ(rows.at("fwd.l0.ln1").dtype, DType::fp32);
  EXPECT_EQ(rows.at("fwd.l0.softmax").dtype, DType::fp16);
  const LayerOp& update = rows.at("upd.l0.q");
  EXPECT_EQ(*find_value(update.args, "rounding"), "stochastic");
  EXPECT_EQ(rows.count("upd.l0.q_cast"), 0U);
  // weight read and written and gradient read in fp16, two moments read and written in fp32
  EXPECT_EQ(cost_of(update, 1).traffic, 3U * 2 + 4U * 4);
}

TEST(Training, UnitScalingMultipliesTheResultOfEveryFp8Product) {
  const auto rows =
      rows_of(generate_workload("bert-tiny", one_layer({{"recipe", "unit-scaling"}})));
  int products = 0;
  for (const auto& [id, op] : rows) {
    if (op.op != "gemm" && op.op != "bmm") continue;
    ++products;
    EXPECT_EQ(op.dtype, DType::fp8) << id;
    EXPECT_EQ(*find_value(op.args, "fp8"), op.phase == Phase::fwd ? "e4m3" : "e5m2") << id;
    const LayerOp& scale = rows.at(id + "_scale");
    EXPECT_EQ(scale.fn, "scale");
    EXPECT_EQ(std::uint64_t{scale.m} * scale.n * scale.batch,
              std::uint64_t{op.m} * op.n * op.batch);
  }
  EXPECT_EQ(products, 8 * 3);  // q, k, v, scores, ctx, o, ffn1, ffn2: forward and two gradients
  EXPECT_EQ(rows.at("fwd.l0.qkv_bias").depends_on.front(), "fwd.l0.q_scale");
}

TEST(Training, LossScalingAddsItsRows) {
  const auto rows = rows_of(generate_workload(
      "bert-tiny", one_layer({{"loss-scaling", "1"}, {"pattern", "block16:0.25"}})));
  EXPECT_EQ(rows.at("bwd.loss_scale").m, 1U);
  EXPECT_EQ(rows.at("upd.l0.q_unscale").m, 4096U);
  EXPECT_EQ(rows.at("upd.l0.q_finite").k, 1024U);
  EXPECT_EQ(rows.at("upd.l0.q_finite").batch, 4U);
  EXPECT_EQ(rows.count("upd.l0.q_finite_rest"), 0U);
  EXPECT_EQ(rows.at("upd.l0.q").depends_on.front(), "upd.l0.q_unscale");
  EXPECT_THAT(
      [] {
        generate_workload("bert-tiny", {{"loss-scaling", "1"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("part=training")));
}

// 128 x 128 x 0.11 = 1,802 weights: a piece of 1,024 and 778.
TEST(Training, LossScalingLeavesNoGradientOut) {
  const auto rows = rows_of(generate_workload(
      "bert-tiny", one_layer({{"loss-scaling", "1"}, {"pattern", "unstructured:0.11"}})));
  EXPECT_EQ(rows.at("upd.l0.q_finite").k, 1024U);
  EXPECT_EQ(rows.at("upd.l0.q_finite").batch, 1U);
  EXPECT_EQ(rows.at("upd.l0.q_finite_rest").k, 778U);
}

double dense_flop(const std::string& model, const Pairs& settings) {
  double macs = 0;
  for (const LayerOp& op : generate_workload(model, settings).ops) {
    macs += static_cast<double>(cost_of(op, masked_elements(op)).algorithmic_macs);
  }
  return 2 * macs;
}

// Attention and head stay dense, so s = 75 % saves less than 4 times (SPDF, arXiv 2303.10464: 2.5
// times), and 83.8 % about 3 times (iterative pruning of GPT-3 XL, as published by Cerebras).
TEST(Training, SparseGpt3XlSavesThePublishedFlop) {
  const Pairs all = {{"tokens", "2048"}, {"heads", "1"}};
  const double whole = dense_flop("gpt3-xl", all);
  const double weights = dense_flop("gpt3-xl", {{"tokens", "2048"}, {"part", "weights"}});
  EXPECT_NEAR(whole / (whole - 0.75 * weights), 2.494, 5e-4);
  EXPECT_NEAR(whole / (whole - 0.5 * weights), 1.665, 5e-4);
  EXPECT_NEAR(whole / (whole - 0.838 * weights), 3.025, 5e-4);
  EXPECT_NEAR(weights / whole, 0.799, 5e-4);
  const double matrices = 24.0 * 12 * 2048 * 2048;
  const double tables = (50257.0 + 2048) * 2048;
  EXPECT_NEAR((matrices + tables) / (0.162 * matrices + tables), 4.343, 5e-4);
}

// arXiv 2108.06277: 8.33e9 FLOP for a training sequence of 128 tokens through BERT-Base at s = 0.9,
// 2.738e9 for BERT-Medium, encoder alone. Of each layer of BERT-Base 707,786 weights are kept.
TEST(Training, DynamicSparseBertHasThePublishedFlop) {
  const auto flop = [](const char* model, const char* pattern) {
    std::uint64_t macs = 0;
    for (const LayerOp& op :
         generate_workload(model, {{"part", "training"}, {"tokens", "128"}, {"pattern", pattern}})
             .ops) {
      std::uint64_t kept = masked_elements(op);
      const bool reduced = op.op == "gemm" || op.op == "sddmm";
      if (reduced && op.pattern.name != "dense") {  // floor(0.1 * positions), in blocks
        const std::uint64_t block = pattern[0] == 'b' ? 256 : 1;
        kept = kept / block / 10 * block;
      }
      macs += cost_of(op, kept).useful_macs;
    }
    return 2 * macs;
  };
  EXPECT_EQ(flop("bert-base", "unstructured:0.1"), 8334895104U);
  EXPECT_EQ(flop("bert-base", "block16:0.1"), 8328314880U);
  EXPECT_NEAR(static_cast<double>(flop("bert-medium", "unstructured:0.1")), 2.738e9, 0.0005e9);
}

// Brown et al., table D.1: 6 FLOP for each parameter and token of training.
TEST(Training, Gpt3TableCountsSixFlopPerParameterAndToken) {
  const auto flop = [](const char* model, double tokens) {
    return 6 * static_cast<double>(parameter_count(find_model_shape(model))) * tokens;
  };
  EXPECT_NEAR(flop("bert-base", 250e9), 1.64e20, 0.005e20);
  EXPECT_NEAR(flop("gpt3-xl", 300e9), 2.38e21, 0.02e21);
  EXPECT_NEAR(flop("gpt3-13b", 300e9), 2.31e22, 0.005e22);
  EXPECT_NEAR(flop("gpt3-175b", 300e9), 3.14e23, 0.005e23);
}

}  // namespace
}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/operand_sources.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace lacuna {
namespace {

using Kind = OperandSource::Kind;

LayerOp row(std::string id, std::string op, std::uint32_t m, std::uint32_t k, std::uint32_t n,
            std::uint32_t batch, std::vector<std::string> after) {
  LayerOp made;
  made.id = made.layer = std::move(id);
  made.op = std::move(op);
  made.m = m;
  made.k = k;
  made.n = n;
  made.batch = batch;
  made.depends_on = std::move(after);
  return made;
}

/// Attention of 2 sequences of 8 tokens: 4 heads of 3 features, of queries, keys and values.
WorkloadTrace attention() {
  WorkloadTrace trace;
  trace.ops = {row("q", "gemm", 12, 12, 16, 1, {}),
               row("k", "gemm", 12, 12, 16, 1, {}),
               row("v", "gemm", 12, 12, 16, 1, {}),
               row("bias", "eltwise", 36, 0, 16, 1, {"q", "k", "v"}),
               row("scores", "bmm", 8, 3, 8, 8, {"bias"}),
               row("softmax", "softmax", 8, 0, 8, 8, {"scores"}),
               row("ctx", "bmm", 8, 8, 3, 8, {"softmax", "bias"}),
               row("o", "gemm", 12, 12, 16, 1, {"ctx"}),
               row("add", "eltwise", 12, 0, 16, 1, {"o", "q"}),
               row("next", "gemm", 5, 12, 16, 1, {"add"})};
  find_sources(trace);
  return trace;
}

TEST(OperandSources, PartsOfAnOperandFollowEachOther) {
  const auto sources = attention().ops[3].sources;
  ASSERT_EQ(sources.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sources[i].features, 12U);
    EXPECT_EQ(sources[i].place, 12 * i);
    EXPECT_TRUE(sources[i].of_product);
  }
}

TEST(OperandSources, WholeOperandsBeginAtTheFirstFeature) {
  const WorkloadTrace trace = attention();
  ASSERT_EQ(trace.ops[8].sources.size(), 2U);
  EXPECT_EQ(trace.ops[8].sources[1].place, 0U);
  ASSERT_EQ(trace.ops[9].sources.size(), 1U);
  EXPECT_FALSE(trace.ops[9].sources[0].of_product);
}

TEST(OperandSources, ScoresAreTheProductOfQueriesAndKeys) {
  const auto sources = attention().ops[4].sources;
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].first, 0U);
  EXPECT_EQ(sources[1].first, 12U);
  EXPECT_EQ(sources[1].features, 36U);
  EXPECT_EQ(sources[2].kind, Kind::scores);
}

TEST(OperandSources, ScoresTimesValuesAreActivations) {
  const auto sources = attention().ops[6].sources;
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].kind, Kind::scores);
  EXPECT_EQ(sources[1].first, 24U);
  EXPECT_EQ(sources[2].kind, Kind::activations);
  EXPECT_EQ(sources[2].features, 12U);
}

// Four heads of queries share two of keys and values: 12 + 6 + 6 features.
TEST(OperandSources, QueriesMayShareKeysAndValues) {
  WorkloadTrace trace;
  trace.ops = {row("bias", "eltwise", 24, 0, 16, 1, {}),
               row("scores", "bmm", 16, 3, 8, 4, {"bias"})};
  find_sources(trace);
  const auto& sources = trace.ops[1].sources;
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[1].kind, Kind::activations);
  EXPECT_EQ(sources[1].first, 12U);
}

TEST(OperandSources, WhatDoesNotFitStaysUnknown) {
  WorkloadTrace trace;
  trace.ops = {row("x", "eltwise", 7, 0, 16, 1, {}), row("y", "eltwise", 5, 0, 16, 1, {"x"}),
               row("z", "eltwise", 7, 0, 8, 1, {"x"}), row("s", "bmm", 7, 3, 5, 4, {"x"}),
               row("t", "bmm", 8, 3, 8, 8, {"x"})};
  find_sources(trace);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_TRUE(trace.ops[i].sources.empty()) << i;
  ASSERT_EQ(trace.ops[4].sources.size(), 3U);
  EXPECT_EQ(trace.ops[4].sources[0].kind, Kind::unknown);
}

}  // namespace
}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/operand_sources.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace lacuna {
namespace {

using Kind = OperandSource::Kind;

/// A row of its own layer.
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

/// The backward row `suffix` of the row `of`.
LayerOp back(const LayerOp& of, const std::string& suffix, std::string op, std::uint32_t m,
             std::uint32_t k, std::uint32_t n, std::vector<std::string> after) {
  LayerOp made = row("d" + of.id + suffix, std::move(op), m, k, n, of.batch, std::move(after));
  made.layer = of.layer;
  made.phase = Phase::bwd;
  return made;
}

/// The same attention and its backward pass: dO, dP and dV, dQ and dK, the joint bias and what q,
/// k and v gave.
WorkloadTrace attention_and_back() {
  WorkloadTrace trace = attention();
  const auto of = [&](std::size_t i) { return trace.ops[i]; };
  for (const LayerOp& made :
       {back(of(7), "x", "gemm", 12, 12, 16, {}), back(of(6), "p", "bmm", 8, 3, 8, {"dox"}),
        back(of(6), "v", "bmm", 8, 8, 3, {"dox"}), back(of(5), "", "softmax", 8, 0, 8, {"dctxp"}),
        back(of(4), "q", "bmm", 8, 8, 3, {"dsoftmax"}),
        back(of(4), "k", "bmm", 8, 8, 3, {"dsoftmax"}),
        back(of(3), "", "eltwise", 36, 0, 16, {"dscoresk"}),
        back(of(2), "x", "gemm", 12, 12, 16, {"dbias"}),
        back(of(1), "x", "gemm", 12, 12, 16, {"dbias"})}) {
    trace.ops.push_back(made);
  }
  find_sources(trace);
  return trace;
}

// dP = dC V^T: V is the last third of the joint operand, dC what the product before it left.
TEST(OperandSources, GradientsOfProbabilitiesTakeValuesWhereTheyWere) {
  const auto sources = attention_and_back().ops[11].sources;
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].features, 12U);
  EXPECT_TRUE(sources[0].of_product);
  EXPECT_EQ(sources[1].features, 36U);
  EXPECT_EQ(sources[1].first, 24U);
  EXPECT_EQ(sources[2].kind, Kind::scores);
  EXPECT_FALSE(sources[2].transposed);
}

// dV = P^T dC goes to where V was.
TEST(OperandSources, GradientsOfValuesTakeTransposedScores) {
  const auto sources = attention_and_back().ops[12].sources;
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].kind, Kind::scores);
  EXPECT_TRUE(sources[0].transposed);
  EXPECT_EQ(sources[1].features, 12U);
  EXPECT_EQ(sources[2].features, 36U);
  EXPECT_EQ(sources[2].first, 24U);
}

// dQ = dS K and dK = dS^T Q: each takes what the other belongs to.
TEST(OperandSources, GradientsOfQueriesAndKeysTakeTheOther) {
  const WorkloadTrace trace = attention_and_back();
  const auto queries = trace.ops[14].sources;
  const auto keys = trace.ops[15].sources;
  ASSERT_EQ(queries.size(), 3U);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_FALSE(queries[0].transposed);
  EXPECT_EQ(queries[1].first, 12U);
  EXPECT_EQ(queries[2].first, 0U);
  EXPECT_TRUE(keys[0].transposed);
  EXPECT_EQ(keys[1].first, 0U);
  EXPECT_EQ(keys[2].first, 12U);
}

TEST(OperandSources, BackwardRowsTakeThePartThatTheirForwardRowsMade) {
  const WorkloadTrace trace = attention_and_back();
  for (const auto& [at, first] : {std::pair(17U, 24U), std::pair(18U, 12U)}) {
    const auto sources = trace.ops[at].sources;
    ASSERT_EQ(sources.size(), 1U);
    EXPECT_EQ(sources[0].features, 36U);
    EXPECT_EQ(sources[0].first, first);
    EXPECT_EQ(sources[0].place, 0U);
  }
}

TEST(OperandSources, WhatHeadsGiveIsActivationsToTheRowAfter) {
  const auto sources = attention().ops[7].sources;
  ASSERT_EQ(sources.size(), 1U);
  EXPECT_EQ(sources[0].features, 12U);
  EXPECT_FALSE(sources[0].of_product);
}

TEST(OperandSources, AGatedUnitTakesHalvesAndGivesThemBack) {
  WorkloadTrace trace;
  trace.ops = {row("x", "gemm", 12, 5, 16, 1, {}), row("gate", "eltwise", 6, 0, 16, 1, {"x"})};
  trace.ops[1].fn = "glu";
  trace.ops.push_back(back(trace.ops[1], "", "eltwise", 6, 0, 16, {}));
  trace.ops[2].fn = "glu";
  trace.ops.push_back(back(trace.ops[0], "", "gemm", 5, 12, 16, {"dgate"}));
  find_sources(trace);
  ASSERT_EQ(trace.ops[1].sources.size(), 2U);
  EXPECT_EQ(trace.ops[1].sources[0].first, 0U);
  EXPECT_EQ(trace.ops[1].sources[1].first, 6U);
  ASSERT_EQ(trace.ops[3].sources.size(), 2U);
  EXPECT_EQ(trace.ops[3].sources[0].place, 0U);
  EXPECT_EQ(trace.ops[3].sources[1].place, 6U);
  EXPECT_EQ(trace.ops[3].sources[1].first, 0U);
}

// Two sequences, four heads of three features, a token of each after eleven.
TEST(OperandSources, FewerTokensThanKeysAreTheLastOfACache) {
  WorkloadTrace trace;
  trace.ops = {row("q", "eltwise", 12, 0, 2, 1, {}),
               row("k", "eltwise", 12, 0, 2, 1, {}),
               row("v", "gemm", 12, 5, 2, 1, {}),
               row("scores", "bmm", 1, 3, 12, 8, {"q", "k"}),
               row("softmax", "softmax", 1, 0, 12, 8, {"scores"}),
               row("ctx", "bmm", 1, 12, 3, 8, {"softmax", "v"})};
  find_sources(trace);
  const auto scores = trace.ops[3].sources;
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0].kind, Kind::activations);
  EXPECT_EQ(scores[1].kind, Kind::cache);
  EXPECT_EQ(scores[1].tokens, 2U);
  EXPECT_EQ(scores[2].kind, Kind::scores);
  const auto context = trace.ops[5].sources;
  ASSERT_EQ(context.size(), 3U);
  EXPECT_EQ(context[0].kind, Kind::scores);
  EXPECT_EQ(context[1].kind, Kind::cache);
  EXPECT_TRUE(context[1].of_product);
  EXPECT_EQ(context[2].features, 12U);
}

// dW = dY X^T takes dY where dX = W^T dY of its layer held it and X where Y = W X did, of forward
// rows that were done again the last. Without dX it takes dY from its maker, and of weights that
// stay on the chip nothing is known. Of dense weights it is a bmm, which may be of activations
// alone: its layer says that it is not.
TEST(OperandSources, AWeightGradientTakesWhatTheProductsOfItsLayerHeld) {
  const auto rows = [](bool with_dx, Residency residency, const char* kind) {
    WorkloadTrace trace;
    trace.ops = {row("y", "spmm", 12, 8, 16, 1, {}), row("again", "spmm", 12, 8, 16, 1, {}),
                 row("dy", "eltwise", 12, 0, 16, 1, {"again"}),
                 row("dx", "spmm", 8, 12, 16, 1, {"dy"}), row("dw", kind, 12, 16, 8, 1, {"dy"})};
    for (LayerOp& op : trace.ops) {
      if (op.id[0] == 'd') op.phase = Phase::bwd;
      if (op.id != "dy") op.layer = "l";
      if (op.op == "spmm") op.residency = residency;
    }
    if (!with_dx) trace.ops.erase(trace.ops.begin() + 3);
    find_sources(trace);
    return trace;
  };
  const WorkloadTrace all = rows(true, Residency::automatic, "sddmm");
  const std::vector<OperandSource>& held = all.ops[4].sources;
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held[0].kind, Kind::held);
  EXPECT_EQ(held[0].features, 12U);
  EXPECT_EQ(held[1].kind, Kind::held);
  EXPECT_EQ(held[1].features, 8U);
  EXPECT_EQ(held[1].tokens, 16U);
  EXPECT_EQ(source_makers(all)[4], (std::vector<std::string>{"dx", "again"}));
  const WorkloadTrace without = rows(false, Residency::automatic, "sddmm");
  ASSERT_EQ(without.ops[3].sources.size(), 2U);
  EXPECT_EQ(without.ops[3].sources[0].kind, Kind::activations);
  EXPECT_EQ(source_makers(without)[3], (std::vector<std::string>{"dy", "again"}));
  EXPECT_TRUE(rows(true, Residency::resident, "sddmm").ops[4].sources.empty());
  WorkloadTrace dense = rows(true, Residency::automatic, "bmm");
  ASSERT_EQ(dense.ops[4].sources.size(), 2U);
  EXPECT_EQ(dense.ops[4].sources[0].features, 12U);
  EXPECT_EQ(dense.ops[4].sources[1].features, 8U);
  EXPECT_EQ(source_makers(dense)[4], (std::vector<std::string>{"dx", "again"}));
  dense.ops[4].layer = "other";
  find_sources(dense);
  EXPECT_TRUE(dense.ops[4].sources.empty());
  dense.ops[4].op = "sddmm";
  find_sources(dense);
  EXPECT_EQ(dense.ops[4].sources.size(), 2U);
}

// Of queries that share keys each has a softmax of its own, so their scores lie elsewhere.
TEST(OperandSources, ScoresOfSharedKeysStayUnknown) {
  WorkloadTrace trace;
  trace.ops = {row("q", "eltwise", 12, 0, 8, 1, {}), row("k", "eltwise", 6, 0, 8, 1, {}),
               row("scores", "bmm", 16, 3, 8, 2, {"q", "k"}),
               row("softmax", "softmax", 8, 0, 8, 4, {"scores"}),
               row("ctx", "bmm", 16, 8, 3, 2, {"softmax", "k"})};
  find_sources(trace);
  ASSERT_EQ(trace.ops[2].sources.size(), 3U);
  EXPECT_EQ(trace.ops[2].sources[0].shared, 2U);
  ASSERT_EQ(trace.ops[4].sources.size(), 3U);
  EXPECT_EQ(trace.ops[4].sources[0].kind, Kind::unknown);
  EXPECT_EQ(trace.ops[4].sources[1].features, 6U);
  EXPECT_EQ(trace.ops[4].sources[2].features, 12U);
  EXPECT_EQ(trace.ops[4].sources[2].shared, 2U);
}

/// Two sequences of 8 tokens, four heads of 3 features, keys and values of two of them. Where a
/// mask leaves scores out, each head is a matrix, and two take the same keys.
WorkloadTrace masked_attention() {
  WorkloadTrace trace;
  trace.ops = {row("q", "eltwise", 12, 0, 16, 1, {}),
               row("k", "eltwise", 6, 0, 16, 1, {}),
               row("v", "gemm", 6, 5, 16, 1, {}),
               row("scores", "sddmm", 8, 3, 8, 8, {"q", "k"}),
               row("softmax", "softmax", 8, 0, 8, 8, {"scores"}),
               row("ctx", "bmm", 8, 8, 3, 8, {"softmax", "v"})};
  trace.ops.push_back(row("dctx", "gemm", 12, 12, 16, 1, {}));
  trace.ops.push_back(back(trace.ops[5], "p", "sddmm", 8, 3, 8, {"dctx"}));
  trace.ops.push_back(back(trace.ops[5], "v", "bmm", 8, 8, 3, {"dctx"}));
  find_sources(trace);
  return trace;
}

TEST(OperandSources, MatricesOfOneHeadTakeKeysThatHeadsShare) {
  const WorkloadTrace trace = masked_attention();
  const auto scores = trace.ops[3].sources;
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0].features, 12U);
  EXPECT_EQ(scores[0].copies, 1U);
  EXPECT_EQ(scores[1].features, 6U);
  EXPECT_EQ(scores[1].copies, 2U);
  const auto context = trace.ops[5].sources;
  ASSERT_EQ(context.size(), 3U);
  EXPECT_EQ(context[1].features, 6U);
  EXPECT_EQ(context[1].copies, 2U);
  EXPECT_TRUE(context[2].by_heads);
}

// What comes back for a value is a number of each head that took it: no row adds them up.
TEST(OperandSources, GradientsOfValuesThatHeadsShareAreNowhere) {
  const WorkloadTrace trace = masked_attention();
  const auto scores = trace.ops[7].sources;
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0].features, 12U);
  EXPECT_EQ(scores[1].copies, 2U);
  EXPECT_FALSE(scores[2].by_heads);
  const auto values = trace.ops[8].sources;
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[1].features, 12U);
  EXPECT_EQ(values[2].kind, Kind::unknown);
  EXPECT_TRUE(values[2].by_heads);
}

}  // namespace
}  // namespace lacuna

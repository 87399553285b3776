// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/system/wafer_layers.hpp"

namespace lacuna::system {
namespace {

constexpr WaferEdge kEdge;  // 5 us, half duplex

WaferPass pass_of(std::uint64_t down, std::uint64_t up, std::uint64_t ns) {
  WaferPass pass;
  pass.name = "pass";
  pass.down_bytes = down;
  pass.up_bytes = up;
  pass.ns = {ns};
  return pass;
}

WaferSystemResult run(const WaferSystemParams& params, const std::vector<WaferPass>& passes,
                      const WaferEdge& edge = kEdge) {
  return run_wafer_system(params, edge, passes, {});
}

std::uint64_t work_of(const WaferSystemResult& result) {
  return result.chips[0][static_cast<std::size_t>(Use::work)];
}

// At 1 byte a nanosecond and hops of 4,096: the store reads a chunk in 0 to 4,095, the link has it
// from 4,096 to 8,191, and it is at the wafer 5,000 later, in 13,191; its work of 100 ends 13,291.
TEST(WaferSystem, AChunkIsReadCarriedAndWorkedOnOneAfterTheOther) {
  WaferSystemParams params;
  params.memoryx.read_gbps = 1;
  params.swarmx.link_gbps = 1;
  const WaferSystemResult result = run(params, {pass_of(4096, 0, 100)});
  EXPECT_EQ(result.passes[0].begin, 13191U);
  EXPECT_EQ(result.passes[0].end, 13291U);
  EXPECT_EQ(result.ns, 13292U);
}

// A level has one more link, 4,096 and a cycle in the node, and its latency of 500.
TEST(WaferSystem, ALevelOfTheTreeAddsALinkAndItsLatency) {
  WaferSystemParams params;
  params.memoryx.read_gbps = 1;
  params.swarmx.link_gbps = 1;
  params.swarmx.tree_gbps = 1;
  params.machines = 2;
  const WaferSystemResult two = run(params, {pass_of(4096, 0, 100)});
  EXPECT_EQ(two.passes[0].begin, 13191U + 4096 + 500);
  params.machines = 9;  // two levels of up to eight
  const WaferSystemResult nine = run(params, {pass_of(4096, 0, 100)});
  EXPECT_EQ(nine.passes[0].begin, 13191U + 2 * (4096 + 500));
}

// The first of two links is the tree's: at 2 bytes a nanosecond 2,048 less, and as fast as the
// wafer's own alone what it was.
TEST(WaferSystem, LinksOfTheTreeAndOfAWafersSystemHaveRatesOfTheirOwn) {
  WaferSystemParams params;
  params.memoryx.read_gbps = 1;
  params.swarmx.link_gbps = 1;
  params.swarmx.tree_gbps = 2;
  EXPECT_EQ(run(params, {pass_of(4096, 0, 100)}).passes[0].begin, 13191U);  // one wafer has no tree
  params.machines = 2;
  EXPECT_EQ(run(params, {pass_of(4096, 0, 100)}).passes[0].begin, 13191U + 2048 + 500);
}

// 150 GB/s: 10 MB in 66,667 ns, whatever the work below that.
TEST(WaferSystem, AStreamThatTakesLongerThanTheWorkTakesTheRateOfTheLink) {
  WaferSystemParams params;
  const WaferPass pass = pass_of(10'000'000, 0, 1000);
  const Cycle ns = run(params, {pass}).ns;
  EXPECT_EQ(least_ns(params, kEdge, pass), 66666U + 5000);
  EXPECT_GE(ns, 66666U + 5000);
  EXPECT_LE(ns, 66666U + 5000 + 2 * 28 + 2);  // a chunk more at each of the two hops
}

TEST(WaferSystem, NoPassIsFasterThanItsBytesItsWorkAndItsLatencies) {
  for (const unsigned wafers : {1U, 2U, 8U, 9U, 64U}) {
    for (const std::uint64_t bytes : {1U, 4096U, 1'000'000U}) {
      for (const std::uint64_t ns : {0U, 3000U, 100'000U}) {
        WaferSystemParams params;
        params.machines = wafers;
        const WaferPass pass = pass_of(bytes, 0, ns);
        EXPECT_GE(run(params, {pass}).ns, least_ns(params, kEdge, pass))
            << wafers << " wafers, " << bytes << " bytes, " << ns << " ns";
      }
    }
  }
}

// Two passes of 1 MB, 6,667 ns of stream and 20,000 of work each: the second stream hides behind
// the first work, because the edge holds it.
TEST(WaferSystem, TheNextLayersWeightsComeWhileThisOneComputes) {
  WaferSystemParams params;
  const std::vector<WaferPass> passes(2, pass_of(1'000'000, 0, 20'000));
  const WaferSystemResult result = run(params, passes);
  EXPECT_EQ(work_of(result), 40'000U);
  EXPECT_LE(result.passes[1].begin - result.passes[0].end, 1U);
  EXPECT_LE(result.ns, 5000U + 2 * 28 + 40'000 + 2 * 6667);
}

// An update of 10^6 numbers at 0.4 ns for each thousand takes 400 ns, at 0.6 ns 600.
TEST(WaferSystem, AnUpdateMayTakeLessThanAPicosecondANumber) {
  const auto update_ns = [](double ns_per_1k) {
    WaferSystemParams params;
    params.memoryx.update_ns_per_1k = ns_per_1k;
    WaferPass pass = pass_of(4096, 4096, 100);
    pass.parameters = 1'000'000;
    return run(params, {pass}).update_ns;
  };
  EXPECT_EQ(update_ns(0.4), 400U);
  EXPECT_EQ(update_ns(0.6), 600U);
}

// Gradients pass the link of a wafer that weights pass: 1.5 MB each way take 20,000 ns on a link
// of one direction at a time, and 10,000 if both go at once.
TEST(WaferSystem, GradientsShareTheLinkUnlessItIsFullDuplex) {
  WaferSystemParams params;
  params.prefetch_bytes = 1 << 24;
  const std::vector<WaferPass> passes = {pass_of(1'500'000, 1'500'000, 10)};
  const Cycle half = run(params, passes).ns;
  WaferEdge full = kEdge;
  full.half_duplex = false;
  const Cycle both = run(params, passes, full).ns;
  EXPECT_GE(half, 20'000U);
  EXPECT_LE(half, 20'000U + 2 * 5000 + 200);
  EXPECT_GE(both, 10'000U + 2 * 5000);
  EXPECT_LE(both, 10'000U + 2 * 5000 + 200);
}

TEST(WaferSystem, EveryWaferSeesEveryWeightAndSumsAreMadeOnceForEachChild) {
  for (const unsigned wafers : {1U, 3U, 8U, 20U, 64U}) {
    WaferSystemParams params;
    params.machines = wafers;
    params.swarmx.fanout = 4;
    const WaferSystemResult result = run(params, {pass_of(50'001, 30'001, 2000)});
    for (std::size_t i = 0; i < result.down_bytes.size(); ++i) {
      EXPECT_EQ(result.down_bytes[i], 50'001U) << "link " << i;
      EXPECT_EQ(result.up_bytes[i], 30'001U) << "link " << i;
    }
    // all links but the store's lead to a child, and each child's gradients are added once
    EXPECT_EQ(result.added_bytes, (result.up_bytes.size() - 1) * std::uint64_t{30'001});
    for (const TimeStack& wafer : result.chips) {
      EXPECT_EQ(std::accumulate(wafer.begin(), wafer.end(), std::uint64_t{0}), result.ns);
    }
  }
}

WaferLayer layer(std::uint64_t nonzeros, std::uint64_t ns) {
  return {"layer", nonzeros, {ns}, {ns}, {ns}};
}

// The update of the last layer runs while the first is still in backward; that of the first is
// what the next step waits for.
TEST(WaferSystem, UpdatesRunBehindTheBackwardPassAndTheNextStepWaitsForTheFirstLayer) {
  WaferSystemParams params;
  params.memoryx.update_ns_per_1k = 1000;  // 1 ns each
  const std::vector<WaferLayer> layers(3, layer(100'000, 200'000));
  const auto passes = training_passes(params, layers, 2);
  ASSERT_EQ(passes.size(), 2U * (3 + 6));
  const WaferSystemResult result = run(params, passes);
  const std::size_t last_gradient = 3 + 1;   // of layer 2
  const std::size_t first_gradient = 3 + 5;  // of layer 0
  EXPECT_LT(result.passes[last_gradient].updated, result.passes[first_gradient].begin);
  EXPECT_GT(result.passes[9].begin, result.passes[first_gradient].updated);
  EXPECT_GE(result.wait_ns, 100'000U);
  params.memoryx.update_ns_per_1k = 0;
  EXPECT_LT(run(params, training_passes(params, layers, 2)).ns, result.ns);
}

// A fixed global batch: the work of a wafer shrinks with their number, the stream does not.
TEST(WaferSystem, StrongScalingEndsWhereTheStreamTakesAsLongAsTheWork) {
  double one = 0;
  for (const unsigned wafers : {1U, 2U, 4U, 8U, 16U}) {
    WaferSystemParams params;
    params.machines = wafers;
    // 15 MB take 100,000 ns; work of 800,000 is shared
    const Cycle ns = run(params, {pass_of(15'000'000, 0, 800'000 / wafers)}).ns;
    if (wafers == 1) one = static_cast<double>(ns);
    const double speedup = one / static_cast<double>(ns);
    EXPECT_LE(speedup, 8.01) << wafers;
    EXPECT_GT(speedup, wafers <= 4 ? 0.9 * wafers : wafers == 8 ? 6.5 : 7.0) << wafers;
  }
}

// The same work on each: another level costs its latencies and a chunk, and no more bytes.
TEST(WaferSystem, WeakScalingCostsALatencyForEachLevelOfTheTree) {
  Cycle before = 0;
  for (const unsigned wafers : {1U, 8U, 64U}) {
    WaferSystemParams params;
    params.machines = wafers;
    const Cycle ns = run(params, {pass_of(3'000'000, 3'000'000, 200'000)}).ns;
    if (before != 0) {
      EXPECT_GE(ns, before + 2 * 500);
      EXPECT_LE(ns, before + 2 * (500 + 2 * 28) + 60);
    }
    before = ns;
  }
}

// Fanout 8: 64 wafers hang from 8 nodes and one above; of 9 the second node has one.
TEST(WaferSystem, NodesOfTheTreeAreThoseOfAllItsLevels) {
  const auto nodes = [](unsigned wafers) {
    WaferSystemParams params;
    params.machines = wafers;
    return params.nodes();
  };
  EXPECT_EQ(nodes(1), 0U);
  EXPECT_EQ(nodes(2), 1U);
  EXPECT_EQ(nodes(8), 1U);
  EXPECT_EQ(nodes(9), 3U);
  EXPECT_EQ(nodes(64), 9U);
  EXPECT_EQ(nodes(65), 12U);
}

TEST(WaferSystem, TimesOfAnotherNumberOfWafersAreRefused) {
  WaferSystemParams params;
  params.machines = 3;
  WaferPass pass = pass_of(4096, 0, 1);
  pass.ns = {1, 2};
  EXPECT_THROW(run(params, {pass}), ParameterError);
}

TEST(WaferSystem, APassOfManyBytesHasLargerChunksInsteadOfMore) {
  WaferSystemParams params;
  params.chunks = 16;
  const auto passes = training_passes(params, {layer(1'000'000, 10)}, 1);
  EXPECT_EQ(passes[0].chunk_bytes, 262'144U);  // 4 MB in 16
  EXPECT_EQ(passes[0].down_chunks(), 16U);
}

// Down: 8,192 bytes read. Up: 4,096 written. Update of 1,024 weights: 4 + 4 + 8 read of each, 4 + 8
// written.
TEST(WaferSystem, TheStoreReadsAndWritesForStreamsAndUpdates) {
  WaferPass pass = pass_of(8192, 4096, 1000);
  pass.parameters = 1024;
  pass.update_bytes = 1024 * 28;
  EXPECT_EQ(run({}, {pass}).store_bytes, 8192U + 4096 + 1024 * 28);
}

}  // namespace
}  // namespace lacuna::system

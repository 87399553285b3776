// SPDX-License-Identifier: Apache-2.0
// Vectors handed along a line of cores: what arrives, when, and in both engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/line_move.hpp"
#include "workloads/mapping/wse/layers/move.hpp"
#include "workloads/mapping/wse/layers/tensor.hpp"

namespace lacuna::wse {
namespace {

const LayerSetup kSetup;  // 8 cycles to start a move of two descriptors

Cycle cycles_of(const std::vector<LineVector>& vectors, std::uint32_t cores) {
  const LineMove move = move_along(vectors, cores, Direction::columns, Element::fp16, kSetup);
  Cycle cycles = 0;
  if (move.ahead) cycles += run_tasks(*move.ahead).cycles;
  if (move.back) cycles += run_tasks(*move.back).cycles;
  return cycles;
}

// Both start their instruction in 2 + 4 + 2 cycles. A word needs 6 from beat to beat: it issues,
// goes up the ramp (2), over the link (1) and down (2). Four words: 8 + 6 + 4.
TEST(LineMove, ANeighbourHasAVectorAfterStartAndSixCyclesAtAWordACycle) {
  EXPECT_EQ(cycles_of({{0, 1, 8, 0, 0}}, 2), 18U);
  EXPECT_EQ(cycles_of({{1, 0, 8, 0, 0}}, 2), 18U);
  EXPECT_EQ(cycles_of({{0, 1, 7, 0, 0}}, 2), 18U);  // the last word half filled
}

// The core between passes words on in an instruction of its own: 6 more.
TEST(LineMove, ACoreBetweenPassesWordsOnSixCyclesLater) {
  EXPECT_EQ(cycles_of({{0, 2, 8, 0, 0}}, 3), 24U);
}

// Core 1 sends its own four words for core 2 first, in cycles 8 to 11; the others have come to its
// queue and to its link, and after 8 cycles of start it passes them on in 20 to 23; six cycles
// later core 2 takes them, at once, as it has started its second instruction while nothing came.
TEST(LineMove, ItsOwnVectorsGoBeforeThoseOfOthersForTheSameCore) {
  EXPECT_EQ(cycles_of({{0, 2, 8, 0, 0}, {1, 2, 8, 0, 16}}, 3), 30U);
}

TEST(LineMove, WhatStaysInItsCoreTakesNothing) {
  EXPECT_EQ(cycles_of({{1, 1, 8, 0, 64}, {0, 1, 0, 0, 0}}, 3), 0U);
}

// Four words each of cores 0 and 1, which share the link behind core 1; two of core 5 elsewhere, at
// the same time; and three that go back, after all others.
TEST(LineMove, IsEstimatedByWhatLeavesCoresOfLinksThatFollowEachOther) {
  const std::vector<LineVector> vectors = {{0, 2, 8}, {1, 3, 8}, {5, 6, 4}, {3, 0, 6}};
  EXPECT_EQ(estimated_move(vectors, Element::fp16, 8, true), 8U);
  EXPECT_EQ(estimated_move(vectors, Element::fp16, 8, false), 3U);
}

// Four vectors of four words leave core 0, with 8 cycles from each to the next: 4 * 4 + 3 * 8 = 40.
// The first start and the way of six cycles to its neighbour, which takes the last, are not in it.
TEST(LineMove, IsEstimatedWithTheStartsBetweenVectorsOfACore) {
  const std::vector<LineVector> out = {
      {0, 4, 8, 0, 0}, {0, 3, 8, 16, 0}, {0, 2, 8, 32, 0}, {0, 1, 8, 48, 0}};
  EXPECT_EQ(estimated_move(out, Element::fp16, 8, true), 40U);
  EXPECT_EQ(cycles_of(out, 5), 8U + 40U + 6U);
  // core 0 takes four, and their senders wait for no start
  const std::vector<LineVector> in = {{1, 0, 8}, {2, 0, 8}, {3, 0, 8}, {4, 0, 8}};
  EXPECT_EQ(estimated_move(in, Element::fp16, 8, false), 40U);
}

/// Two heads of four features and eight tokens, on four columns of two rows: a core has two
/// features of four tokens, which are four words.
struct EstimatedHeads {
  EstimatedHeads() {
    setup.wafer.columns = 4;
    setup.wafer.rows = 2;
    setup.estimates = true;
    op.m = op.n = 8;
    op.k = 4;
    op.batch = 2;
    op.sources.resize(3);
    for (std::size_t i = 0; i < 2; ++i) {
      op.sources[i].kind = OperandSource::Kind::activations;
      op.sources[i].features = op.sources[i].tokens = 8;
    }
  }
  std::vector<Cycle> moves() const {
    ProductShape shape{2, 4, 1, 4, false, true};  // a feature a core
    const StreamingParams ws;
    const IoParams io;
    std::vector<Cycle> all;
    for (const LayerStage& stage : attention_moves({setup, op}, shape, {ws, io}).before) {
      all.push_back(stage.estimate);
    }
    return all;
  }

  LayerSetup setup;
  LayerOp op;
};

// Queries: both features of each of the four cores of a row go to a core of their own. Half of the
// 8 cycles of a start is hidden behind what others pass on: 4 * (4 + 2 * 4). Then two rows send
// four words each down a column: 2 * (4 + 4). Keys: along rows 4 * (4 + 4), and down the columns
// each feature has a row of its own: 2 * (4 + 2 * 4).
TEST(LineMove, OfHeadsIsEstimatedWithAStartForEachCoreThatTakesAPart) {
  EXPECT_EQ(EstimatedHeads().moves(), (std::vector<Cycle>{48 + 16, 32 + 24}));
}

// Each of 61 cores hands 20 words on to the third behind it. Every link carries words of three
// cores, so all follow each other: 61 * 20 = 1,220 cycles if none sends before the one before it
// has ended. Cores whose words share no link overlap, but not by half, as each waits for three.
TEST(LineMove, ShiftsOfAWholeLineTakeAtMostAllThatLeavesItsCores) {
  std::vector<LineVector> vectors;
  for (std::uint32_t core = 0; core < 61; ++core) vectors.push_back({core, core + 3, 40});
  const Cycle estimate = estimated_move(vectors, Element::fp16, 8, true);
  EXPECT_EQ(estimate, 61U * 20U);
  const Cycle cycles = cycles_of(vectors, 64);
  EXPECT_LT(cycles, estimate);
  EXPECT_GT(cycles, estimate / 2);
}

struct Scenario {
  std::uint32_t cores = 2;
  bool rows = false;
  bool fp32 = false;
  std::vector<LineVector> vectors;
  std::uint32_t from_bytes = 0;  // of a core: what it sends, then what it takes
  std::uint32_t bytes = 0;
};

Scenario random_scenario(std::uint64_t seed) {
  Random random(seed);
  Scenario s;
  s.cores = static_cast<std::uint32_t>(2 + random.bounded(9));
  s.rows = random.bounded(2) != 0;
  s.fp32 = random.bounded(3) == 0;
  const std::uint32_t size = s.fp32 ? 4 : 2;
  std::vector<std::uint32_t> leaves(s.cores, 0);
  std::vector<std::uint32_t> comes(s.cores, 0);
  const std::uint64_t count = random.bounded(40);
  for (std::uint64_t i = 0; i < count; ++i) {
    LineVector vector;
    vector.from = static_cast<std::uint32_t>(random.bounded(s.cores));
    vector.to = static_cast<std::uint32_t>(random.bounded(s.cores));
    vector.length = static_cast<std::uint32_t>(1 + random.bounded(9));
    vector.from_at = leaves[vector.from];
    vector.to_at = comes[vector.to];
    leaves[vector.from] += vector.length * size;
    comes[vector.to] += vector.length * size;
    s.vectors.push_back(vector);
  }
  s.from_bytes = *std::max_element(leaves.begin(), leaves.end());
  s.bytes = s.from_bytes + *std::max_element(comes.begin(), comes.end());
  for (LineVector& vector : s.vectors) vector.to_at += s.from_bytes;
  return s;
}

DType type_of(const Scenario& s) { return s.fp32 ? DType::fp32 : DType::fp16; }

/// A number of its own for element `i` of what core `core` sends, exact in halves.
double value_of(std::uint32_t core, std::uint64_t i) {
  return static_cast<double>(core * 64 + i % 64 + 1);
}

WaferMemory memory_of(const Scenario& s) {
  WaferMemory memory(s.cores, std::vector<std::uint8_t>(s.bytes, 0));
  const unsigned size = s.fp32 ? 4 : 2;
  for (std::uint32_t core = 0; core < s.cores; ++core) {
    for (std::uint64_t i = 0; i < s.from_bytes / size; ++i) {
      store(memory[core], 0, i, type_of(s), value_of(core, i));
    }
  }
  return memory;
}

LineMove move_of(const Scenario& s) {
  return move_along(s.vectors, s.cores, s.rows ? Direction::rows : Direction::columns,
                    s.fp32 ? Element::fp32 : Element::fp16, kSetup);
}

WaferMemory moved(const Scenario& s) {
  WaferMemory memory = memory_of(s);
  const LineMove move = move_of(s);
  for (const auto* part : {&move.ahead, &move.back}) {
    if (!*part) continue;
    TaskProgram program = **part;
    program.memory = memory;
    memory = run_tasks(program).memory;
  }
  return memory;
}

TEST(LineMove, EveryElementArrivesWhereItBelongs) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Scenario s = random_scenario(seed);
    const WaferMemory memory = moved(s);
    const unsigned size = s.fp32 ? 4 : 2;
    for (const LineVector& vector : s.vectors) {
      if (vector.from == vector.to) continue;
      for (std::uint32_t i = 0; i < vector.length; ++i) {
        EXPECT_EQ(load(memory[vector.to], vector.to_at, i, type_of(s)),
                  value_of(vector.from, vector.from_at / size + i))
            << "seed " << seed;
      }
    }
  }
}

// Links carry what crosses them and no more: each vector's words over as many links as it goes far.
TEST(LineMove, WordsTakeAsManyLinksAsTheirCoresAreApart) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Scenario s = random_scenario(seed);
    std::uint64_t expected = 0;
    for (const LineVector& v : s.vectors) {
      // those side by side in both cores would be one; these never are but for the first of a core
      const std::uint64_t words = s.fp32 ? v.length : (v.length + 1) / 2;
      expected += words * (v.to > v.from ? v.to - v.from : v.from - v.to);
    }
    std::uint64_t hops = 0;
    const LineMove move = move_of(s);
    for (const auto* part : {&move.ahead, &move.back}) {
      if (!*part) continue;
      for (const RouterCounters& router : run_tasks(**part).routers) {
        for (const Port port : {kNorth, kEast, kSouth, kWest}) hops += router.sent[port];
      }
    }
    EXPECT_LE(hops, expected) << "seed " << seed;  // less where two half-filled words became one
    if (s.fp32) {
      EXPECT_EQ(hops, expected) << "seed " << seed;
    }
  }
}

TEST(LineMove, NeitherEngineNorOrderNorDelaysOfWordsChangeTheOutcome) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const LineMove move = move_of(random_scenario(seed));
    for (const auto* part : {&move.ahead, &move.back}) {
      if (!*part) continue;
      for (const Cycle jitter : {Cycle{0}, Cycle{5}}) {
        const TaskOutcome expected = run_tasks(**part, Engine::clocked, 0, jitter);
        for (const Engine engine : {Engine::clocked, Engine::event}) {
          const TaskOutcome actual = run_tasks(**part, engine, seed, jitter);
          EXPECT_EQ(actual.cycles, expected.cycles) << "seed " << seed;
          EXPECT_EQ(actual.events, expected.events) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse

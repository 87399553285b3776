// SPDX-License-Identifier: Apache-2.0
// Operands on their way between the layouts of two rows of a trace.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>

#include "models/sparsity/mask.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/wse/moves.hpp"
#include "workloads/mapping/wse/layers/move.hpp"
#include "workloads/mapping/wse/streaming.hpp"
#include "workloads/trace/matrix/given_masks.hpp"

namespace lacuna {
namespace {

using Kind = OperandSource::Kind;

/// Queries and keys of an FP32 product of heads: an element is a word, so its links are counted.
struct Heads {
  std::uint32_t sequences, tokens, heads, width;
  std::uint32_t columns, rows;
};

LayerOp scores_of(const Heads& h) {
  LayerOp op;
  op.op = "bmm";
  op.m = op.n = h.tokens;
  op.k = h.width;
  op.batch = h.sequences * h.heads;
  op.dtype = DType::fp32;
  const std::uint32_t all = h.heads * h.width;
  op.sources = {activations(3 * all, h.sequences * h.tokens),
                activations(3 * all, h.sequences * h.tokens),
                {}};
  op.sources[1].first = all;
  return op;
}

/// The side of a product's square and its slots, as the result tells them.
struct Plan {
  std::uint32_t slots = 0;
  std::uint32_t side = 0;
};

Plan plan_of(const OpResult& result) {
  for (const auto& [key, text] : result.notes) {
    if (key != "plan") continue;
    Plan plan;
    plan.slots = static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
    plan.side =
        static_cast<std::uint32_t>(std::strtoul(text.c_str() + text.find(" on ") + 4, nullptr, 10));
    return plan;
  }
  return {};
}

// Every element of queries and keys goes along its row of cores to its column, then along that to
// its row, once: the links are the distances. On 8 x 6 cores, 2 heads of 2 sequences have a slot of
// 4 x 3 cores each. Keys are transposed, unless W is masked and stays where it is.
void expect_distances_of_heads(const Mask* mask) {
  const Heads h{2, 9, 2, 6, 8, 6};
  const LayerOp op = scores_of(h);
  const OpResult result = machine(h.columns, h.rows)->run(op, mask, 1, {});
  const Plan plan = plan_of(result);
  ASSERT_EQ(plan.slots, 4U);
  std::uint64_t queries = 0;
  std::uint64_t keys = 0;
  const std::uint32_t all = h.heads * h.width;
  for (std::uint32_t f = 0; f < all; ++f) {
    for (std::uint32_t t = 0; t < h.sequences * h.tokens; ++t) {
      const std::uint32_t from_row = even(t, h.sequences * h.tokens, h.rows);
      const std::uint32_t slot = t / h.tokens * h.heads + f / h.width;
      const std::uint32_t row = slot / 2 * 3;
      const std::uint32_t column = slot % 2 * 4;
      const std::uint32_t in_tokens = piece(t % h.tokens, h.tokens, plan.side);
      const std::uint32_t in_width = piece(f % h.width, h.width, plan.side);
      queries +=
          apart(from_row, row + in_tokens) + apart(piece(f, 3 * all, h.columns), column + in_width);
      keys += apart(from_row, row + (mask == nullptr ? in_width : in_tokens)) +
              apart(piece(all + f, 3 * all, h.columns),
                    column + (mask == nullptr ? in_tokens : in_width));
    }
  }
  EXPECT_EQ(hops(result, "move W"), queries);
  EXPECT_EQ(hops(result, "move X"), keys);
}

TEST(LayerMoves, HeadsTakeAsManyLinksAsTheirCoresAreApart) { expect_distances_of_heads(nullptr); }

TEST(LayerMoves, KeysOfMaskedQueriesStayAsTheyLie) {
  Mask all{9, 6, 1, 1, {0}, {}};
  for (std::uint32_t i = 0; i < 9; ++i) {
    for (std::uint32_t j = 0; j < 6; ++j) all.columns.push_back(j);
    all.offsets.push_back(all.columns.size());
  }
  expect_distances_of_heads(&all);
}

TEST(LayerMoves, GoAlongTheRowFirstAndThenAlongTheColumnWhereTheyBelong) {
  const wse::LayerSetup setup;
  wse::CoreMover mover(setup, wse::Element::fp16);
  mover.add({1, 0}, {4, 3}, 0, 0, 5);
  const std::vector<wse::LayerStage> stages = mover.stages("move");
  ASSERT_EQ(stages.size(), 2U);
  ASSERT_EQ(stages[0].places.size(), 1U);
  EXPECT_EQ(stages[0].places[0].row, 1U);
  EXPECT_EQ(stages[0].parts[0].columns, 4U);
  ASSERT_EQ(stages[1].places.size(), 1U);
  EXPECT_EQ(stages[1].places[0].column, 3U);
  EXPECT_EQ(stages[1].parts[0].rows, 5U);
}

// Tokens 0 to 4 and 5 to 8 of feature 7 go the same way and are one vector, with the nine tokens of
// feature 9; the five of feature 8 are another.
TEST(LayerMoves, WhatGoesTheSameWayIsOneVector) {
  const wse::LayerSetup setup;
  wse::CoreMover mover(setup, wse::Element::fp16);
  mover.add({0, 0}, {0, 1}, 7, 0, 5);
  mover.add({0, 0}, {0, 1}, 8, 0, 5);
  mover.add({0, 0}, {0, 1}, 9, 0, 9);
  mover.add({0, 0}, {0, 1}, 7, 5, 4);
  const std::vector<wse::LayerStage> stages = mover.stages("move");
  ASSERT_EQ(stages.size(), 1U);
  // A start and a vector each.
  const wse::Task& task = stages[0].parts[0].cores[0].tasks[0];
  ASSERT_EQ(task.steps.size(), 4U);
  EXPECT_EQ(task.steps[1].vector.length, 18U);
  EXPECT_EQ(task.steps[3].vector.length, 5U);
}

TEST(LayerMoves, ResultsOfHeadsGoBackToActivations) {
  const Heads h{1, 10, 4, 6, 8, 6};
  LayerOp op = scores_of(h);
  std::swap(op.k, op.n);  // scores times values
  op.k = h.tokens;
  op.sources[0].kind = Kind::scores;
  op.sources[2] = activations(h.heads * h.width, h.tokens);
  const OpResult result = machine(h.columns, h.rows)->run(op, nullptr, 1, {});
  const Plan plan = plan_of(result);
  ASSERT_EQ(plan.slots, 4U);
  std::uint64_t expected = 0;
  for (std::uint32_t f = 0; f < h.heads * h.width; ++f) {
    for (std::uint32_t t = 0; t < h.tokens; ++t) {
      const std::uint32_t slot = f / h.width;
      expected += apart(even(t, h.tokens, h.rows), slot / 2 * 3 + piece(t, h.tokens, plan.side)) +
                  apart(piece(f, h.heads * h.width, h.columns),
                        slot % 2 * 4 + piece(f % h.width, h.width, plan.side));
    }
  }
  EXPECT_EQ(hops(result, "move Y"), expected);
  EXPECT_GT(hops(result, "move W"), 0U);  // from where softmax left the scores to blocks
}

LayerOp function_of(std::uint32_t m, std::uint32_t n, std::vector<OperandSource> sources) {
  LayerOp op;
  op.op = "eltwise";
  op.fn = "relu";
  op.m = m;
  op.n = n;
  op.dtype = DType::fp32;
  op.sources = std::move(sources);
  return op;
}

LayerOp product_of(std::uint32_t m, std::uint32_t k, std::uint32_t n, OperandSource source) {
  LayerOp op;
  op.m = m;
  op.k = k;
  op.n = n;
  op.dtype = DType::fp32;
  op.sources = {source};
  return op;
}

OperandSource of_product(OperandSource source) {
  source.of_product = true;
  return source;
}

TEST(LayerMoves, NothingMovesWhereLayoutsAreEqual) {
  auto blocks = machine(4, 5);
  EXPECT_EQ(
      hops(blocks->run(function_of(13, 23, {of_product(activations(13, 23))}), nullptr, 1, {}),
           "move operand"),
      0U);
  EXPECT_EQ(
      hops(blocks->run(product_of(6, 13, 23, activations(13, 23)), nullptr, 1, {}), "move operand"),
      0U);
  auto cyclic = machine(4, 5);
  cyclic->set("ws.k_partition", "cyclic", "test");
  EXPECT_EQ(
      hops(cyclic->run(product_of(6, 13, 23, of_product(activations(13, 23))), nullptr, 1, {}),
           "move operand"),
      0U);
  auto middle = machine(4, 5);
  middle->set("ws.inject", "middle_row", "test");
  EXPECT_EQ(
      hops(middle->run(product_of(6, 13, 23, of_product(activations(13, 23))), nullptr, 1, {}),
           "move operand"),
      0U);
}

// Feature f lies in column f mod 4 and has to be in f / 4 (13 features: 4, 4, 4 and 1), 23 tokens
// each: the distances of features 0 to 12 are 0 1 2 3 / 1 0 1 2 / 2 1 0 1 / 3, together 17.
TEST(LayerMoves, AFunctionTakesDealtFeaturesIntoBlocks) {
  auto cyclic = machine(4, 5);
  cyclic->set("ws.k_partition", "cyclic", "test");
  const OpResult result =
      cyclic->run(function_of(13, 23, {of_product(activations(13, 23))}), nullptr, 1, {});
  EXPECT_EQ(hops(result, "move operand"), 17U * 23);
  EXPECT_EQ(
      hops(cyclic->run(product_of(6, 13, 23, activations(13, 23)), nullptr, 1, {}), "move operand"),
      17U * 23);
}

// 23 tokens on 5 rows: 5 5 5 4 4 for a function. With the entry in row 2 the rows nearest to it, 1
// to 3, have five: 4 5 5 5 4. Token 4 has to go from row 1 to row 0, tokens 9, 14 and so on from
// rows 2 and 3 to the row above; 13 features each.
TEST(LayerMoves, TokensOfAnEntryInTheMiddleGoToTheRowsAbove) {
  auto middle = machine(4, 5);
  middle->set("ws.inject", "middle_row", "test");
  const OpResult result =
      middle->run(function_of(13, 23, {of_product(activations(13, 23))}), nullptr, 1, {});
  EXPECT_EQ(hops(result, "move operand"), 3U * 13);
}

// 4 + 4 features, two of each in every of 2 columns, become 8 with four in each: those of column 1
// of the first part go to column 0, those of column 0 of the second to column 1.
TEST(LayerMoves, PartsThatBecomeOneOperandMove) {
  OperandSource second = of_product(activations(4, 7));
  second.place = 4;
  const OpResult result = machine(2, 3)->run(
      function_of(8, 7, {of_product(activations(4, 7)), second}), nullptr, 1, {});
  EXPECT_EQ(hops(result, "move operand"), 4U * 7);
}

TEST(LayerMoves, ABalancedProductTakesItsOperandFromBlocks) {
  auto balanced = machine(2, 3);
  balanced->set("ws.k_partition", "balanced", "test");
  // Features 0 and 1 have two weights, 2 and 3 one: 0 and 2 go to column 0, 1 and 3 to column 1,
  // and feature 1 and 2 lie in the other.
  const Mask mask{2, 4, 1, 1, {0, 4, 6}, {0, 1, 2, 3, 0, 1}};
  LayerOp op = product_of(2, 4, 6, activations(4, 6));
  op.pattern.name = "unstructured";
  const OpResult result = balanced->run(op, &mask, 1, {});
  EXPECT_EQ(hops(result, "move operand"), 2U * 6);
  std::uint64_t stack = 0;
  for (const StackPart& part : result.stack) stack += part.cycles;
  EXPECT_EQ(stack, result.units * result.cycles);
  EXPECT_EQ(result.phases.size(), 2U);
}

// X has 6, 2, 2 and 2 non-zeros in its features: the first is column 0's, the others column 1's.
// Features 0 and 1 lie in column 0, so that feature 1 alone moves, 6 tokens; in blocks none does.
// Tokens go up to the entry alike.
TEST(LayerMoves, ABalancedResidentProductTakesFeaturesByTheZerosOfX) {
  const GivenMask x(std::make_shared<const Mask>(
      Mask{4, 6, 1, 1, {0, 6, 8, 10, 12}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}}));
  LayerOp op = product_of(2, 4, 6, activations(4, 6));
  op.residency = Residency::resident;
  op.x_pattern = "file";
  op.x_file = x.name();
  const auto moved = [&](const char* partition) {
    auto made = machine(2, 3);
    made->set("ws.k_partition", partition, "test");
    return hops(made->run(op, nullptr, 1, {}), "move operand");
  };
  EXPECT_EQ(moved("balanced") - moved("block"), 6U);
}

// Features 4 to 7 of eight lie in column 1; of four, each column has two: the first two of them go
// to column 0. Features 2 to 5 lie two in each column already.
TEST(LayerMoves, APartOfAWiderMatrixMovesByItself) {
  OperandSource part = activations(8, 7);
  part.first = 4;
  EXPECT_EQ(hops(machine(2, 3)->run(product_of(5, 4, 7, part), nullptr, 1, {}), "move operand"),
            2U * 7);
  part.first = 2;
  EXPECT_EQ(hops(machine(2, 3)->run(product_of(5, 4, 7, part), nullptr, 1, {}), "move operand"),
            0U);
}

/// Every move of random rows: engines, orders and folding give one result.
TEST(LayerMoves, NeitherEngineNorOrderNorFoldingChangesMoves) {
  Random random(5);
  const auto upto = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(1 + random.bounded(most));
  };
  for (int i = 0; i < 25; ++i) {
    const Heads h{upto(2), upto(7), upto(3), upto(4), 2 + upto(5), 2 + upto(5)};
    LayerOp op = scores_of(h);
    op.dtype = random.bounded(2) == 0 ? DType::fp16 : DType::fp32;
    op.sources[2].kind = Kind::scores;
    if (random.bounded(2) == 0) {
      op = function_of(upto(12), upto(12), {});
      op.sources = {of_product(activations(op.m, op.n))};
    } else if (op.batch == 1) {
      continue;
    }
    const auto made = machine(h.columns, h.rows);
    made->set("ws.k_partition", "cyclic", "test");
    Execution execution;
    execution.engine = Engine::clocked;
    const OpResult expected = made->run(op, nullptr, 1, execution);
    for (const bool fold : {false, true}) {
      execution.engine = Engine::event;
      execution.fold = fold;
      execution.shuffle = fold ? 0 : 7;
      const OpResult actual = made->run(op, nullptr, 1, execution);
      EXPECT_EQ(actual.cycles, expected.cycles) << i;
      EXPECT_EQ(actual.stack, expected.stack) << i;
      ASSERT_EQ(actual.statistics.size(), expected.statistics.size());
      for (std::size_t s = 0; s < actual.statistics.size(); ++s) {
        EXPECT_EQ(actual.statistics[s].value, expected.statistics[s].value)
            << i << ' ' << actual.statistics[s].name;
      }
    }
  }
}

// What happened and what was counted in each interval adds up over moves and stream.
TEST(LayerMoves, IntervalsAndEventsOfAProductFollowThoseOfItsMoves) {
  auto cyclic = machine(4, 5);
  cyclic->set("ws.k_partition", "cyclic", "test");
  const LayerOp op = product_of(6, 13, 23, activations(13, 23));
  LayerOp alone = op;
  alone.sources.clear();
  Execution execution;
  execution.event_log = true;
  const OpResult stream = cyclic->run(alone, nullptr, 1, execution);
  const OpResult both = cyclic->run(op, nullptr, 1, execution);
  const Cycle moves = both.phases.front().cycles;
  EXPECT_EQ(both.cycles, moves + stream.cycles);
  ASSERT_GT(both.events.size(), stream.events.size());
  const std::size_t before = both.events.size() - stream.events.size();
  EXPECT_LE(both.events[before - 1].cycle, moves);
  EXPECT_EQ(both.events[before].cycle, moves + stream.events[0].cycle);
  execution.event_log = false;
  execution.interval = 50;
  const OpResult series = cyclic->run(op, nullptr, 1, execution);
  EXPECT_EQ(series.cycles, both.cycles);
  Cycle end = 0;
  std::uint64_t fabric = 0;
  for (const Interval& interval : series.intervals.each) {
    EXPECT_EQ(interval.from, end);
    end = interval.to;
    fabric += interval.fabric_bytes;
  }
  EXPECT_EQ(end, series.cycles);
  EXPECT_EQ(fabric, series.fabric_bytes);
}

}  // namespace
}  // namespace lacuna

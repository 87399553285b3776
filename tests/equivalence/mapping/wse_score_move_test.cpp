// SPDX-License-Identifier: Apache-2.0
// Scores, caches and memory of operands on their way between layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/wse/moves.hpp"
#include "workloads/mapping/wse/layers/layout.hpp"
#include "workloads/mapping/wse/layers/move.hpp"

namespace lacuna {
namespace {

using SourceKind = OperandSource::Kind;

/// The side of the square of cores of each product.
std::uint32_t side_of(const OpResult& result) {
  for (const auto& [key, text] : result.notes) {
    if (key != "plan") continue;
    return static_cast<std::uint32_t>(
        std::strtoul(text.c_str() + text.find(" on ") + 4, nullptr, 10));
  }
  return 0;
}

/// Scores times values of one head: 9 x 7 scores, values of 5 features; an FP32 element is a word.
LayerOp of_scores(bool transposed) {
  LayerOp op;
  op.op = "bmm";
  op.m = transposed ? 7 : 9;
  op.k = transposed ? 9 : 7;
  op.n = 5;
  op.batch = 4;
  op.dtype = DType::fp32;
  op.sources.resize(3);
  op.sources[0].kind = SourceKind::scores;
  op.sources[0].transposed = transposed;
  op.sources[2].kind = SourceKind::activations;  // of nobody: nothing is known of it
  return op;
}

// On 8 x 6 cores each of four matrices has 4 x 3. Softmax has the 9 rows of scores on 3 rows of
// cores, and their 7 columns in pieces of two on 4 columns; transposed, row i is a column of W.
// They go along rows of cores first: 36 hops of each matrix as they are, and 138 transposed.
TEST(ScoreMoves, TransposedScoresGoToTheBlocksOfTheirColumns) {
  for (const bool transposed : {false, true}) {
    const OpResult result = machine(8, 6)->run(of_scores(transposed), nullptr, 1, {});
    const std::uint32_t side = side_of(result);
    ASSERT_GT(side, 1U);
    LineHops rows;
    LineHops columns;
    for (std::uint32_t i = 0; i < 9; ++i) {
      for (std::uint32_t j = 0; j < 7; ++j) {
        const std::uint32_t of_i = piece(i, 9, side);
        const std::uint32_t of_j = piece(j, 7, side);
        const std::uint32_t column = transposed ? of_i : of_j;
        rows.add(even(i, 9, 3), piece(j, 7, 4), column);
        columns.add(column, even(i, 9, 3), transposed ? of_j : of_i);
      }
    }
    EXPECT_EQ(rows.sum() + columns.sum(), transposed ? 138U : 36U);
    EXPECT_EQ(hops(result, "move W"), 4 * (rows.sum() + columns.sum())) << transposed;
  }
}

// A single kept score: what a core has in its block, a run of a column, goes there and nothing
// else.
TEST(ScoreMoves, OfScoresWithAMaskOnlyRunsWithAKeptOneMove) {
  for (const bool transposed : {false, true}) {
    LayerOp op = of_scores(transposed);
    Mask mask{op.m, op.k, 1, 1, {}, {transposed ? 8U : 6U}};
    // score (8, 6), the last
    for (std::uint32_t row = 0; row <= op.m; ++row) mask.offsets.push_back(row == op.m ? 1 : 0);
    const OpResult result = machine(8, 6)->run(op, &mask, 1, {});
    const std::uint32_t side = side_of(result);
    std::uint64_t expected = 0;
    for (std::uint32_t i = 0; i < 9; ++i) {
      const std::uint32_t of_i = piece(i, 9, side);
      const std::uint32_t of_j = piece(6, 7, side);
      if (even(i, 9, 3) != even(8, 9, 3) || of_i != piece(8, 9, side)) continue;
      expected += apart(even(i, 9, 3), transposed ? of_j : of_i) +
                  apart(piece(6, 7, 4), transposed ? of_i : of_j);
    }
    EXPECT_EQ(hops(result, "move W"), 4 * expected) << transposed;
  }
}

// Two heads of two sequences, keys of 2000 tokens, which one core has no room for. The last has
// just been made. On 8 x 6 cores its 16 features lie two in a column, those of a sequence in a row,
// and go to where token 1999 of their cache lies, with features along rows.
TEST(ScoreMoves, ANewTokenGoesToTheEndOfItsCache) {
  LayerOp op;
  op.op = "bmm";
  op.m = 1;
  op.k = 8;
  op.n = 2000;
  op.batch = 4;
  op.dtype = DType::fp32;
  op.sources = {activations(16, 2), activations(16, 2), {}};
  op.sources[1].kind = SourceKind::cache;
  const OpResult result = machine(8, 6)->run(op, nullptr, 1, {});
  const std::uint32_t side = side_of(result);
  ASSERT_GT(side, 1U);
  std::uint64_t queries = 0;
  std::uint64_t keys = 0;
  for (std::uint32_t f = 0; f < 16; ++f) {
    for (std::uint32_t t = 0; t < 2; ++t) {
      const std::uint32_t slot = t * 2 + f / 8;
      const std::uint32_t in_head = piece(f % 8, 8, side);
      queries += apart(t, slot / 2 * 3) + apart(f / 2, slot % 2 * 4 + in_head);
      keys +=
          apart(t, slot / 2 * 3 + in_head) + apart(f / 2, slot % 2 * 4 + piece(1999, 2000, side));
    }
  }
  EXPECT_EQ(hops(result, "move W"), queries);
  EXPECT_EQ(hops(result, "move X"), keys);
}

// Keys of one head that two heads of queries share: their gradient dS^T Q takes queries with the
// tokens of one head after those of the other.
TEST(ScoreMoves, QueriesThatShareKeysAreRowsOneAfterTheOther) {
  LayerOp op;
  op.op = "bmm";
  op.m = 5;
  op.k = 10;
  op.n = 3;
  op.batch = 2;
  op.dtype = DType::fp32;
  op.phase = Phase::bwd;
  op.sources = {{}, activations(6, 10), activations(3, 10)};
  op.sources[1].shared = 2;
  const OpResult result = machine(8, 6)->run(op, nullptr, 1, {});
  const std::uint32_t side = side_of(result);
  std::uint64_t expected = 0;
  for (std::uint32_t f = 0; f < 6; ++f) {
    for (std::uint32_t t = 0; t < 10; ++t) {
      const std::uint32_t in_matrix = f / 3 * 5 + t % 5;
      expected += apart(even(t, 10, 6), piece(in_matrix, 10, side)) +
                  apart(f, t / 5 * 4 + piece(f % 3, 3, side));
    }
  }
  EXPECT_EQ(hops(result, "move X"), expected);
}

LayerOp row_of_scores(std::uint32_t m, std::uint32_t n, std::vector<OperandSource> sources) {
  LayerOp op;
  op.id = "row";
  op.op = "eltwise";
  op.fn = "relu";
  op.m = m;
  op.n = n;
  op.dtype = DType::fp32;
  op.sources = std::move(sources);
  return op;
}

/// Two parts of four features, in two columns each, that become one.
LayerOp parts(std::uint32_t tokens) {
  LayerOp op = row_of_scores(8, tokens, {activations(4, tokens), activations(4, tokens)});
  op.sources[1].place = 4;
  return op;
}

std::string note_of(const OpResult& result, const std::string& key) {
  for (const auto& [name, text] : result.notes) {
    if (name == key) return text;
  }
  return "";
}

// On 2 x 3 cores the first of seven tokens' rows has three. Its core in column 0 has all four
// features of the first part in the end and, until they have left, two of the second: 18 numbers.
TEST(MoveMemory, WhatLeavesAndWhatComesHaveTheirPlace) {
  const OpResult result = machine(2, 3)->run(parts(7), nullptr, 1, {});
  EXPECT_EQ(note_of(result, "memory of moves"), "72 bytes of the fullest core");
}

// Both halves of eight features, four in each of two columns, are taken by four, two in each. With
// 40 tokens in a row of cores, column 1 has two features of the first half, then two that leave and
// two that stay of the second: 6 x 40 x 4 bytes. Operand and result alone are 2 x 2 x 40 x 4. Of
// 9 KiB 8 are code and 192 bytes are queues.
TEST(MoveMemory, MovesThatDoNotFitSayHowManyBytesTheyNeed) {
  auto small = machine(2, 3);
  small->set("mem.kib", "9", "test");
  LayerOp op = row_of_scores(4, 120, {activations(8, 120), activations(8, 120)});
  op.sources[1].first = 4;
  LayerOp alone = op;
  alone.sources.clear();
  EXPECT_NO_THROW(small->run(alone, nullptr, 1, {}));
  try {
    small->run(op, nullptr, 1, {});
    ADD_FAILURE() << "it fits";
  } catch (const OutOfMemoryError& error) {
    EXPECT_STREQ(error.what(),
                 "eltwise 'row': a core needs 9344 bytes of 9216 while its operands move between "
                 "layouts: operands 960 B + queues 192 B + code 8192 B");
  }
}

// In its core, in the core where it turns, and in that where it ends.
TEST(MoveMemory, AVectorThatTurnsHasAPlaceInThreeCores) {
  const wse::LayerSetup setup;
  wse::CoreMover mover(setup, wse::Element::fp16);
  mover.add({1, 0}, {4, 3}, 0, 0, 5);
  std::vector<std::uint64_t> taken;
  EXPECT_EQ(mover.most_bytes(taken), 10U);
  const auto at = [&](std::size_t row, std::size_t column) {
    return taken[row * setup.wafer.columns + column];
  };
  EXPECT_EQ(at(1, 0), 0U);
  EXPECT_EQ(at(1, 3), 0U);
  EXPECT_EQ(at(4, 3), 10U);
  mover.add({1, 3}, {1, 3}, 1, 0, 7);  // one that stays where the first turns
  taken.clear();
  EXPECT_EQ(mover.most_bytes(taken), 24U);
  EXPECT_EQ(at(1, 3), 14U);
  // what has come before takes its place too
  EXPECT_EQ(mover.most_bytes(taken), 38U);
}

// Element by element or by columns and rows of whole layouts, a core's bytes are the same.
TEST(MoveMemory, LayoutsCountAsTheirElementsDo) {
  Random random(11);
  const auto upto = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(1 + random.bounded(most));
  };
  for (int i = 0; i < 60; ++i) {
    wse::LayerSetup setup;
    setup.wafer.columns = upto(6);
    setup.wafer.rows = 3 + upto(5);
    wse::StreamingParams ws;
    wse::IoParams io;
    if (random.bounded(2) == 0) ws.k_partition = wse::KPartition::cyclic;
    if (random.bounded(2) == 0) ws.inject = wse::Inject::middle_row;
    const wse::StreamSettings stream{ws, io};
    const std::uint32_t features = upto(20);
    const std::uint32_t tokens = upto(30);
    LayerOp op = row_of_scores(features, tokens, {activations(features, tokens)});
    op.sources[0].of_product = true;
    const wse::FeatureLayout from =
        wse::product_layout(setup.wafer, stream, features, tokens, nullptr);
    const wse::FeatureLayout to = wse::block_layout(setup.wafer, features, tokens);
    const auto row_of = [](const wse::FeatureLayout& layout, std::uint32_t token) {
      std::uint32_t row = 0;
      for (std::uint32_t end = layout.tokens[0]; token >= end;) end += layout.tokens[++row];
      return row;
    };
    wse::CoreMover mover(setup, wse::Element::fp32);
    for (std::uint32_t f = 0; f < features; ++f) {
      for (std::uint32_t t = 0; t < tokens; ++t) {
        mover.add({row_of(from, t), from.column[f]}, {row_of(to, t), to.column[f]}, f, t, 1);
      }
    }
    std::vector<std::uint64_t> taken;
    const bool moves = !mover.stages("").empty();
    EXPECT_EQ(wse::function_moves({setup, op}, stream).bytes, moves ? mover.most_bytes(taken) : 0U)
        << i;
  }
}

}  // namespace
}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/prefill_parts.hpp"

#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "tests/support/wse/decode_bench.hpp"
#include "workloads/mapping/wse/inference/kv_moves.hpp"

namespace lacuna::wse {
namespace {

/// Widths that divide by the cores.
DecoderModel even_model() { return grouped_model(128, 64, 192); }

PrefillShape small_prefill(std::uint32_t side, std::uint32_t tokens) {
  PrefillBlock block;
  block.columns = block.rows = side;
  block.tokens = tokens;
  return {even_model(), block};
}

struct PartsBench {
  PartsBench() { params.sum_step = 10; }

  PrefillParts parts(const PrefillShape& shape, std::uint32_t fold) const {
    return {shape, costs, params, {}, fold};
  }
  Cycle cycles(const TaskProgram& program) const { return simulate({}, program, {}).cycles; }

  CodeCosts costs;
  InferenceParams params;
};

TEST(PrefillShape, FeaturesLieAlongYAndTokensAlongX) {
  // 64 rows: 2 of 128 features, 3 of 192; a band of 32 rows for each of two heads of 64 features,
  // so 2 in a core and 4 of the queries; 128 tokens in 64 columns
  const PrefillShape shape = small_prefill(64, 128);
  EXPECT_EQ(shape.d(), 2U);
  EXPECT_EQ(shape.f(), 3U);
  EXPECT_EQ(shape.band(), 32U);
  EXPECT_EQ(shape.k(), 2U);
  EXPECT_EQ(shape.q(), 4U);
  EXPECT_EQ(shape.t(), 2U);
  EXPECT_EQ(shape.held(), 2U);
  EXPECT_EQ(shape.pitch(), 4U);
  EXPECT_EQ(small_prefill(64, 64).pitch(), 1U);
  EXPECT_THROW(small_prefill(63, 64), UnsupportedError);
}

TEST(PrefillParts, AProductIsItsStepsOfInstructions) {
  // One core, one step: the sums are cleared, 1 + 4 + 2 of set-up and 2 beats of two numbers; the
  // step's test is 2 + 6; then 2 x 4 instructions of a load, 2, the dispatch, 4, and a beat. A half
  // at 0 or 2 modulo 8 and a sum at 4 or 0 are read together where they are 4 apart: of two outputs
  // one of four pairs, so six of the eight take a cycle more.
  const PartsBench bench;
  const PrefillParts parts = bench.parts(small_prefill(64, 64), 1);
  EXPECT_EQ(bench.cycles(parts.plan_product({2, 4, 1, 1})), 9U + 8 + 8 * 7 + 6);
  EXPECT_EQ(bench.cycles(parts.plan_product({2, 8, 1, 1})), 11U + 8 + 16 * 7 + 12);
}

/// The rings of the whole square and those of a few cores that take as many steps.
TEST(PrefillParts, AProductFoldsExactly) {
  const PartsBench bench;
  const auto folds = [&](std::uint32_t side, std::uint32_t tokens, PrefillPart part) {
    const PrefillShape shape = small_prefill(side, tokens);
    const PrefillParts whole = bench.parts(shape, side);
    const PrefillParts folded = bench.parts(shape, 4);
    const TileProduct job = whole.products_of(part).at(0);
    EXPECT_EQ(bench.cycles(folded.plan_product(job)), bench.cycles(whole.plan_product(job)))
        << word(part) << " " << tokens;
  };
  folds(64, 64, PrefillPart::o_proj);
  for (const PrefillPart part : {PrefillPart::qkv, PrefillPart::up_gate, PrefillPart::down}) {
    for (const std::uint32_t tokens : {16U, 32U}) folds(16, tokens, part);
  }
}

TEST(PrefillParts, ShiftsFoldExactly) {
  const PartsBench bench;
  const PrefillShape shape = small_prefill(64, 64);
  for (const std::uint32_t halves : {2U, 16U, 90U}) {
    EXPECT_EQ(bench.cycles(bench.parts(shape, 4).plan_skew(halves, 63)),
              bench.cycles(bench.parts(shape, 64).plan_skew(halves, 63)))
        << halves;
  }
}

TEST(PrefillParts, ScoresAndValuesFoldExactly) {
  const PartsBench bench;
  for (const std::uint32_t tokens : {16U, 32U}) {
    const PrefillShape shape = small_prefill(16, tokens);
    const PrefillParts whole = bench.parts(shape, 16);
    const PrefillParts folded = bench.parts(shape, 4);
    EXPECT_EQ(bench.cycles(folded.plan_scores()), bench.cycles(whole.plan_scores(16))) << tokens;
    EXPECT_EQ(bench.cycles(folded.plan_values()), bench.cycles(whole.plan_values())) << tokens;
  }
  const PrefillParts large = bench.parts(small_prefill(64, 64), 64);
  EXPECT_EQ(bench.cycles(large.plan_scores()), bench.cycles(large.plan_scores(64)));
}

// Of a wide block columns differ in when their activations move on; of a high one weights do so
// after two steps.
TEST(PrefillParts, ProductsOfOtherBlocksFoldExactly) {
  const PartsBench bench;
  for (const auto& [columns, rows] :
       {std::pair(32U, 16U), std::pair(64U, 16U), std::pair(8U, 16U)}) {
    PrefillBlock block;
    block.columns = columns;
    block.rows = rows;
    block.tokens = columns;
    const PrefillShape shape(even_model(), block);
    const PrefillParts folded = bench.parts(shape, 4);
    for (const PrefillPart part : {PrefillPart::qkv, PrefillPart::o_proj, PrefillPart::down}) {
      const TileProduct job = folded.products_of(part).at(0);
      EXPECT_EQ(bench.cycles(folded.plan_product(job)),
                bench.cycles(folded.in({true}).plan_product(job)))
          << word(part) << " " << columns << " " << rows;
    }
    EXPECT_EQ(bench.cycles(folded.plan_values()), bench.cycles(folded.in({true}).plan_values()));
  }
}

TEST(PrefillParts, BlocksThatDoNotFitTogetherAreRefused) {
  PrefillBlock block;
  block.columns = 24;
  block.rows = 16;
  EXPECT_THROW(PrefillShape(even_model(), block), UnsupportedError);
  block.columns = 32;
  block.tokens = 40;
  block.chunks = 2;
  EXPECT_THROW(PrefillShape(even_model(), block), UnsupportedError);
  block.tokens = 64;
  PrefillShape(even_model(), block);
  // a band of 32 rows and 16 columns
  block.columns = 16;
  block.rows = 64;
  EXPECT_THROW(PrefillShape(even_model(), block), UnsupportedError);
}

// Each expert's products are as those of the second.
TEST(PrefillParts, ProductsOfExpertsAreAlike) {
  const PartsBench bench;
  DecoderModel model = even_model();
  model.experts = {6, 2};
  for (const std::uint32_t tokens : {16U, 32U}) {
    PrefillBlock block;
    block.columns = block.rows = 16;
    block.tokens = tokens;
    const PrefillParts parts = bench.parts(PrefillShape(model, block), 4);
    for (const PrefillPart part : {PrefillPart::up_gate, PrefillPart::down}) {
      const std::vector<TaskProgram> programs = parts.plan(part);
      ASSERT_EQ(programs.size(), 7U);
      const Cycle second = bench.cycles(programs[2]);
      for (std::size_t i = 3; i < 7; ++i) EXPECT_EQ(bench.cycles(programs[i]), second) << i;
    }
  }
}

TEST(PrefillParts, EnginesAgree) {
  const PartsBench bench;
  const PrefillShape shape = small_prefill(16, 32);
  const PrefillParts parts = bench.parts(shape, 4);
  for (unsigned i = 0; i <= static_cast<unsigned>(PrefillPart::ffn_residual); ++i) {
    for (const TaskProgram& program : parts.plan(static_cast<PrefillPart>(i))) {
      const TaskOutcome event = run_tasks(program);
      EXPECT_EQ(difference(event, run_tasks(program, Engine::clocked)), "") << i;
      EXPECT_EQ(difference(event, run_tasks(program, Engine::event, 5)), "") << i;
    }
  }
}

TEST(PrefillParts, MoreTokensCostMoreInEachPart) {
  const PartsBench bench;
  for (unsigned i = 0; i <= static_cast<unsigned>(PrefillPart::ffn_residual); ++i) {
    Cycle before = 0;
    // without experts
    if (static_cast<PrefillPart>(i) == PrefillPart::router) continue;
    for (const std::uint32_t tokens : {16U, 64U, 128U}) {
      Cycle cycles = 0;
      const PrefillParts parts = bench.parts(small_prefill(16, tokens), 4);
      for (const TaskProgram& program : parts.plan(static_cast<PrefillPart>(i))) {
        cycles += bench.cycles(program);
      }
      EXPECT_GT(cycles, before) << i << " " << tokens;
      before = cycles;
    }
  }
}

TEST(PrefillMemory, IsRefusedWithItsParts) {
  PrefillBlock block;
  block.columns = block.rows = 64;
  block.tokens = 64;
  block.layers = 40;
  // weights of a layer: 2 x 4 + 2 x 2 x 2 + 4 x 2 and 3 x 2 x 3 elements, gains 2 + 2 + 2 x 2:
  // 50 of two bytes
  const PrefillShape shape(even_model(), block);
  EXPECT_EQ(PrefillSpace(shape).weight_bytes, 40U * 100U);
  // two features of a token, twice, in halves
  EXPECT_EQ(PrefillSpace(shape).cache_bytes, 40U * 8U);
  try {
    require_memory(shape, InferenceParams(), 16384);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("weights 4000, keys and values of 1 chunk 320"),
              std::string::npos)
        << error.what();
  }
}

TEST(RowFill, EachCoreKeepsItsOwnAndPassesTheOthersOn) {
  // Cores 0 to 2. Core 0 has all and sends two pieces, one word each: the loop's edge 5, two
  // descriptors 2 + 4 + 2, a beat: its words leave in 13 and 27. Core 1 takes the first, ready in
  // 13, when it is there, 6 later, sends it on, takes the second as its own. Core 2 takes
  // one. What matters: pieces that pass, 2 + 1, and are kept, 2.
  const CodeCosts costs;
  const InferenceParams params;
  for (const bool outwards : {false, true}) {
    const TaskOutcome outcome = run_tasks(plan_row_fill({3, 1, 2, outwards}, costs, params));
    std::uint64_t sent = 0;
    for (const TaskCounters& core : outcome.cores) sent += core.sent;
    EXPECT_EQ(sent, 3U);
    EXPECT_EQ(outcome.cores[outwards ? 0 : 2].received, outwards ? 2U : 1U);
  }
}

TEST(RowFill, APieceOfTheNextTensorFollowsAtOnce) {
  const CodeCosts costs;
  const InferenceParams params;
  const auto cycles = [&](std::uint32_t tensors) {
    return run_tasks(plan_row_fill({16, tensors, 8, false}, costs, params)).cycles;
  };
  EXPECT_EQ(cycles(4) - cycles(3), cycles(3) - cycles(2));
  EXPECT_EQ(cycles(3) - cycles(2), cycles(2) - cycles(1));
}

}  // namespace
}  // namespace lacuna::wse

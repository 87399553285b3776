// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sim/machines/wse/inference/prefill_times.hpp"
#include "workloads/mapping/wse/inference/kv_moves.hpp"

namespace lacuna {
namespace {

/// Four layers of grouped queries.
ModelShape small_shape() {
  ModelShape model = shape_of_family(ModelFamily::llama);
  model.name = "small";
  model.layers = 4;
  model.width = 64;
  model.heads = 4;
  model.kv_heads = 2;
  model.ffn = 64;
  model.vocabulary = 128;
  model.head_dim = 16;
  model.rotated = 16;
  return model;
}

/// Two blocks beside each other.
DecodePlacement small_blocks() {
  DecodePlacement placement;
  placement.blocks_x = 2;
  placement.blocks_y = 1;
  placement.columns = placement.rows = 8;
  return placement;
}

wse::CodeCosts costs_of(const WseParams& params) {
  return {params.core, params.scalar, params.vec, params.task};
}

// 24 positions on 8 rows, 3 of each, of 2 x 16 features on 8 columns: pieces of 12 halves, two of
// each layer in a block, and a count of each. A memory of 30 KiB has no room for both parts' code:
// attention parts have one block for all layers, and the cores of the other pass all on.
TEST(CacheMoves, ARowTakesWhatAllItsTensorsAndCountsDo) {
  for (const bool split : {false, true}) {
    WseParams params;
    if (split) params.set("mem.kib", "30");
    DecodeTimes ends(params, Engine::event);
    PrefillTimes prompts(params, Engine::event, ends);
    CacheMove move;
    move.tokens = 24;
    const CacheMoveTimes times = prompts.cache_moves(small_shape(), small_blocks(), move);
    EXPECT_EQ(times.split, split);
    EXPECT_EQ(times.layers, split ? 4U : 2U);
    InferenceRuns runs(params, Engine::event, nullptr);
    wse::RowFill row;
    row.cores = 16;
    row.block = split ? 8 : 0;
    const auto cycles = [&](std::uint32_t tensors, std::uint32_t halves) {
      row.tensors = tensors;
      row.halves = halves;
      const auto plan = [&] { return wse::plan_row_fill(row, costs_of(params), params.llm); };
      return static_cast<double>(runs.of(halves == 12 ? "tensors" : "counts", plan).cycles);
    };
    EXPECT_EQ(times.row, cycles(2 * times.layers, 12) + cycles(1, times.layers)) << split;
    EXPECT_EQ(times.bytes, (2 * times.layers * 12 + times.layers) * 2 * (split ? 8 : 16));
  }
}

// Where nothing is zero the products of experts behind the second are as that; with zeros each
// meets them in an order of its own, and none stands for another.
TEST(PromptTimes, WithZerosEachProductOfExpertsIsSimulated) {
  ModelShape model = small_shape();
  model.experts.count = 6;
  model.experts.chosen = 2;
  model.experts.ffn = 64;
  WseParams params;
  params.set("llm.skip", "act");
  DecodeTimes ends(params, Engine::event);
  PrefillTimes prompts(params, Engine::event, ends);
  DecodePlacement placement = small_blocks();
  placement.sparsity.inputs.at(static_cast<std::size_t>(wse::Projection::down)) =
      parse_inputs("bernoulli:0.3", "--activations");
  const PrefillRun run = prompts.run(model, placement, 8, 8);
  const wse::PrefillShape shape(decoder_model(model), run.kinds.front().block);
  wse::PrefillParts parts(shape, costs_of(params), params.llm, {}, 4);
  const wse::Datapath datapath{params.simd, params.mem};
  parts.use_pieces(datapath);
  InferenceRuns runs(params, Engine::event, nullptr);
  double all = 0;
  std::set<double> of_later;
  for (const wse::TaskProgram& program : parts.plan(wse::PrefillPart::down)) {
    const double cycles =
        static_cast<double>(runs.of(std::to_string(of_later.size()) + " " + std::to_string(all),
                                    [&] { return program; })
                                .cycles);
    if (all != 0) of_later.insert(cycles);
    all += cycles;
  }
  EXPECT_GT(of_later.size(), 1U);
  EXPECT_EQ(run.kinds.front().times.parts.at(wse::PrefillPart::down), all);
}

}  // namespace
}  // namespace lacuna

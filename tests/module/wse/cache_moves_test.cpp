// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lacuna

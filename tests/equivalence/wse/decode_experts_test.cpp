// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/decode_bench.hpp"
#include "tests/support/wse/following_values.hpp"

namespace lacuna::wse {
namespace {

DecoderModel model_with_experts(std::uint32_t count, std::uint32_t chosen) {
  DecoderModel model = grouped_model(44, 16, 34);
  model.experts = {count, chosen};
  return model;
}

/// A block that takes the experts which the reference takes.
DecodeShape routed(const DecoderModel& model, DecodeBlock block) {
  const std::vector<std::uint32_t> routes =
      FollowingValues(DecodeShape(model, block), 7).reference_routes();
  for (std::uint32_t s = 0; s < block.batch; ++s) {
    block.routes.insert(block.routes.end(), routes.begin(), routes.end());
  }
  return {model, block};
}

/// The numbers of the experts that a core has found.
std::vector<std::uint32_t> found(const DecodeShape& shape,
                                 const std::vector<std::uint8_t>& memory) {
  const DecodeSpace space(shape);
  std::vector<std::uint32_t> routes;
  for (std::uint32_t j = 0; j < shape.model().experts.chosen; ++j) {
    const float number = load_element(memory, space.chosen + 4 * j, true, false);
    routes.push_back(static_cast<std::uint32_t>(number + 0.5F));
  }
  return routes;
}

TEST(DecodeExperts, AreThoseOfAPlainComputation) {
  for (const auto& [count, chosen] : {std::pair(4U, 2U), std::pair(8U, 3U), std::pair(4U, 1U)}) {
    DecodeBlock block = small_block(8, 8, 12);
    const DecodeShape shape = routed(model_with_experts(count, chosen), block);
    const DecodeBench bench;
    const TaskOutcome outcome = run_tasks(bench.program(shape));
    const DecodeValues values(shape, 7);
    EXPECT_LT(DecodeBench::error(shape, outcome, values, values.reference()), 2 * kHalves) << count;
    // each core finds by itself whose weights it takes
    for (const auto& memory : outcome.memory) EXPECT_EQ(found(shape, memory), shape.block().routes);
  }
}

TEST(DecodeExperts, OtherExpertsGiveOtherNumbers) {
  DecodeBlock block = small_block(8, 8, 12);
  const DecoderModel model = model_with_experts(4, 2);
  block.routes = routed(model, block).block().routes;
  for (std::uint32_t& route : block.routes) route = (route + 1) % 4;
  EXPECT_GT(DecodeBench().error(DecodeShape(model, block)), 0.05);
}

TEST(DecodeExperts, InColumnsOfTheirOwn) {
  DecodeBlock block = small_block(8, 8, 12);
  block.experts_apart = true;
  for (const std::uint32_t count : {4U, 8U}) {
    const DecodeShape shape = routed(model_with_experts(count, 2), block);
    EXPECT_LT(DecodeBench().error(shape), 2 * kHalves) << count;
  }
  EXPECT_THROW(DecodeShape(model_with_experts(3, 2), block), UnsupportedError);
  EXPECT_THROW(DecodeShape(small_model(), block), UnsupportedError);
}

TEST(DecodeExperts, OfSeveralSequences) {
  for (const bool apart : {false, true}) {
    DecodeBlock block = small_block(16, 4, 9);
    block.batch = 3;
    block.receives = true;
    block.experts_apart = apart;
    EXPECT_LT(DecodeBench().error(routed(model_with_experts(4, 2), block)), 2 * kHalves) << apart;
  }
}

TEST(DecodeExperts, EnginesAgree) {
  for (const bool apart : {false, true}) {
    DecodeBlock block = small_block(8, 6, 11);
    block.batch = 2;
    block.experts_apart = apart;
    const TaskProgram program = DecodeBench().program(routed(model_with_experts(4, 2), block));
    const TaskOutcome event = run_tasks(program);
    EXPECT_EQ(difference(event, run_tasks(program, Engine::clocked)), "") << apart;
    EXPECT_EQ(difference(event, run_tasks(program, Engine::event, 3)), "") << apart;
    EXPECT_EQ(difference(run_tasks(program, Engine::event, 5, 7),
                         run_tasks(program, Engine::clocked, 6, 7)),
              "")
        << apart;
  }
}

TEST(DecodeExperts, BytesOfACore) {
  // 8 columns x 8 rows, 44 inputs: 6 a core; inner width 34: 5 a core, or 17 of the two columns of
  // one of 4 experts. Up and gate: 4 x 6 x 10 halves, or 6 x 34; down as many by half; the router
  // 6 x 4 halves.
  DecodeBlock block = small_block(8, 8, 12);
  block.attention = false;
  const DecoderModel model = model_with_experts(4, 2);
  constexpr std::uint64_t kGain = 16;  // 6 halves, in whole eight bytes
  EXPECT_EQ(DecodeSpace(DecodeShape(model, block)).weight_bytes, 2U * (240 + 120 + 24) + kGain);
  block.experts_apart = true;
  // 204 + 102 halves: 408 bytes, and 204 in 208
  EXPECT_EQ(DecodeSpace(DecodeShape(model, block)).weight_bytes, 408U + 208 + 48 + kGain);
}

// Two layers, two query heads for each of two key and value heads, four experts of which a token
// takes two: a prompt of three tokens, token by token, then four more; every core keeps its own
// cache.
TEST(DecodeModel, APromptAndFourStepsAreThoseOfAPlainComputation) {
  constexpr std::uint32_t kLayers = 2;
  constexpr std::uint32_t kTokens = 7;
  const DecoderModel model = model_with_experts(4, 2);
  const DecodeBench bench;
  std::vector<std::vector<std::vector<std::uint8_t>>> memory(kLayers);  // of the step before
  std::vector<DecodeHistory> history(kLayers);
  for (std::uint32_t token = 0; token < kTokens; ++token) {
    DecodeBlock block = small_block(8, 4, token + 1);
    block.capacity = kTokens;
    std::vector<double> plain;
    std::vector<double> found;
    for (std::uint32_t i = 0; i < model.width; ++i) {
      plain.push_back(to_float(to_half(static_cast<float>(std::sin(1.0 + 3 * i + 7 * token)))));
    }
    found = plain;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      FollowingValues reference({model, block}, 11 + layer);
      reference.follow(plain, &history[layer]);
      DecodeBlock routed_block = block;
      routed_block.routes = reference.reference_routes();
      const DecodeShape shape(model, routed_block);
      FollowingValues machine(shape, 11 + layer);
      DecodeHistory none;
      machine.follow(found, &none);
      TaskProgram program = DecodeLayer(shape, bench.costs, bench.params).plan();
      machine.fill(program);
      const DecodeSpace space(shape);
      for (std::size_t core = 0; token > 0 && core < program.memory.size(); ++core) {
        // the cache lies from the first key to the hidden vector
        std::copy(memory[layer][core].begin() + space.k_cache,
                  memory[layer][core].begin() + space.x,
                  program.memory[core].begin() + space.k_cache);
      }
      const TaskOutcome outcome = run_tasks(program);
      EXPECT_EQ(difference(outcome, run_tasks(program, Engine::clocked)), "") << token;
      memory[layer] = outcome.memory;
      plain = reference.reference();
      found = machine.found(outcome.memory, 3);
      EXPECT_LT(DecodeBench::error(shape, outcome, machine, plain), 3 * kHalves)
          << token << " " << layer;
    }
  }
}

}  // namespace
}  // namespace lacuna::wse

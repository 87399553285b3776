// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/prefill_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "tests/support/wse/following_values.hpp"
#include "tests/support/wse/prefill_bench.hpp"
#include "tests/support/wse/small_decoder.hpp"

namespace lacuna::wse {
namespace {

using test::model_with_experts;
using test::numbers_of;
using test::plain;
using test::PlainDecoder;
using test::relative_error;
using test::token;

PrefillBlock block_of(std::uint32_t columns, std::uint32_t rows, std::uint32_t tokens,
                      std::uint32_t chunks) {
  PrefillBlock block;
  block.columns = columns;
  block.rows = rows;
  block.tokens = tokens;
  block.chunks = chunks;
  return block;
}

/// Of a layer and as many chunks as the block keeps: the largest error of any token.
double error(const DecoderModel& model, const PrefillBlock& block, bool both_engines = false) {
  const DecodeValues numbers = numbers_of(model, 0);
  PrefillBench bench({model, block}, numbers, both_engines);
  PlainDecoder reference = plain(model, 1);
  double most = 0;
  for (std::uint32_t chunk = 0; chunk < block.chunks; ++chunk) {
    std::vector<std::vector<double>> hidden;
    for (std::uint32_t i = 0; i < block.tokens; ++i) {
      hidden.push_back(token(model, chunk * block.tokens + i));
    }
    const std::vector<std::vector<double>> found = bench.next(hidden);
    for (std::uint32_t i = 0; i < block.tokens; ++i) {
      most = std::max(most, relative_error(found[i], reference.next(hidden[i])));
    }
  }
  return most;
}

TEST(PrefillValues, OfAChunkAreThoseOfAPlainComputation) {
  const DecoderModel model = small_model();
  EXPECT_LT(error(model, block_of(8, 8, 8, 1), true), 2 * kHalves);
  // three columns have no tokens
  EXPECT_LT(error(model, block_of(8, 8, 5, 1)), 2 * kHalves);
}

TEST(PrefillValues, OfLaterChunksSeeAllBeforeAndNothingBehind) {
  EXPECT_LT(error(small_model(), block_of(8, 8, 8, 3)), 2 * kHalves);
  EXPECT_LT(error(small_model(), block_of(8, 8, 16, 2), true), 2 * kHalves);
}

// Of 6 columns the weights are back in their own place, of 5 in the other one. A band of 3 rows has
// 6 of 16 features a row, two of the last row's are padding; one of 5 rows has two level sums.
TEST(PrefillValues, OnSidesThatAreNoPowerOfTwo) {
  EXPECT_LT(error(small_model(), block_of(6, 6, 12, 2)), 2 * kHalves);
  DecoderModel model = small_model();
  model.kv_heads = 1;
  EXPECT_LT(error(model, block_of(5, 5, 5, 2), true), 2 * kHalves);
}

TEST(PrefillValues, WithoutNormsOfHeadsAndInHalves) {
  DecoderModel model = small_model();
  model.qk_norm = false;
  EXPECT_LT(error(model, block_of(4, 4, 8, 1)), 2 * kHalves);
  model.heads = model.kv_heads = 1;
  model.wide_sums = false;
  EXPECT_LT(error(model, block_of(4, 4, 4, 1)), 6 * kHalves);
}

TEST(PrefillValues, OnBlocksThatAreNoSquare) {
  for (const auto& [columns, rows] : {std::pair(16U, 8U), std::pair(16U, 4U), std::pair(4U, 8U)}) {
    for (const std::uint32_t tokens : {1U, 2U}) {
      const PrefillBlock block = block_of(columns, rows, tokens * columns, tokens == 1 ? 2 : 1);
      const bool both_engines = tokens == 1 && columns == 16 && rows == 8;
      EXPECT_LT(error(small_model(), block, both_engines), 2 * kHalves) << columns << " " << rows;
    }
  }
}

TEST(PrefillValues, OneAfterTheOtherUpAndGateTakeTheSameActivations) {
  for (const std::uint32_t rows : {4U, 8U}) {
    PrefillBlock block = block_of(8, rows, 8, 1);
    block.fused = false;
    EXPECT_LT(error(small_model(), block), 2 * kHalves) << rows;
  }
}

TEST(PrefillValues, OfExperts) {
  EXPECT_LT(error(model_with_experts(), block_of(8, 8, 8, 2), true), 2 * kHalves);
  EXPECT_LT(error(model_with_experts(), block_of(4, 8, 12, 1)), 2 * kHalves);
  EXPECT_LT(error(model_with_experts(), block_of(16, 8, 16, 1)), 2 * kHalves);
}

/// Keys and values of a position where a block that decodes has them.
void put_cache(TaskProgram& program, const DecodeShape& shape, std::uint32_t position,
               const std::vector<double>& keys, const std::vector<double>& values) {
  const DecodeSpace space(shape);
  const std::uint32_t k = shape.k();
  const std::uint32_t row = position % shape.block().rows;
  const std::uint32_t slot = position / shape.block().rows;
  for (std::uint32_t column = 0; column < shape.block().columns; ++column) {
    std::vector<std::uint8_t>& core = program.memory[row * shape.block().columns + column];
    for (std::uint32_t i = 0; i < k; ++i) {
      const std::uint32_t feature = shape.key_feature(column, i);
      const auto put = [&](std::uint32_t address, std::uint32_t at, double value) {
        store_element(core, address + 2 * at, false, false, static_cast<float>(value));
      };
      put(space.k_cache, i * shape.slots() + slot, keys[feature]);
      put(space.v_cache, slot * k + i, values[feature]);
    }
  }
}

/// Layers of a model that decode, each with the memory of its cores.
class DecodingLayer {
 public:
  DecodingLayer(const DecoderModel& model, std::uint32_t number) : model_(model), number_(number) {}

  std::vector<double> next(const DecodeBlock& block, const std::vector<double>& hidden,
                           const PrefillBench& prompt, std::uint32_t tokens) {
    const DecodeShape shape(model_, block);
    FollowingValues values(shape, 11 + number_);
    DecodeHistory none;
    values.follow(hidden, &none);
    TaskProgram program = DecodeLayer(shape, costs_, params_).plan();
    values.fill(program);
    const DecodeSpace space(shape);
    for (std::size_t core = 0; core < memory_.size(); ++core) {
      // the cache lies from the first key to the hidden vector
      std::copy(memory_[core].begin() + space.k_cache, memory_[core].begin() + space.x,
                program.memory[core].begin() + space.k_cache);
    }
    for (std::uint32_t i = 0; memory_.empty() && i < tokens; ++i) {
      put_cache(program, shape, i, prompt.cached(false, i), prompt.cached(true, i));
    }
    const TaskOutcome outcome = run_tasks(program);
    EXPECT_EQ(difference(outcome, run_tasks(program, Engine::clocked)), "");
    memory_ = outcome.memory;
    return values.found(memory_, 3);
  }

 private:
  CodeCosts costs_;
  InferenceParams params_;
  DecoderModel model_;
  std::uint32_t number_;
  PrefillMemory memory_;
};

// Two layers, two query heads for each of two key and value heads, four experts of which a token
// takes two: a prompt of two chunks of eight tokens, then four steps of a block of other sides,
// which has the keys and values of the prompt.
TEST(PrefillModel, APromptAndFourStepsAreThoseOfAPlainComputation) {
  constexpr std::uint32_t kLayers = 2;
  constexpr std::uint32_t kPrompt = 16;
  constexpr std::uint32_t kTokens = kPrompt + 4;
  const DecoderModel model = model_with_experts();
  PlainDecoder reference = plain(model, kLayers);
  const DecodeValues numbers[kLayers] = {numbers_of(model, 0), numbers_of(model, 1)};
  const PrefillShape shape(model, block_of(8, 8, 8, 2));
  PrefillBench first(shape, numbers[0], true);
  PrefillBench second(shape, numbers[1], true);
  for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
    std::vector<std::vector<double>> hidden;
    for (std::uint32_t i = 0; i < 8; ++i) hidden.push_back(token(model, 8 * chunk + i));
    const std::vector<std::vector<double>> found = second.next(first.next(hidden));
    for (std::uint32_t i = 0; i < 8; ++i) {
      EXPECT_LT(relative_error(found[i], reference.next(hidden[i])), 3 * kHalves) << chunk << i;
    }
  }
  const PrefillBench* const prompts[kLayers] = {&first, &second};
  std::vector<DecodingLayer> layers;
  for (std::uint32_t i = 0; i < kLayers; ++i) {
    layers.emplace_back(model, i);
    for (std::uint32_t p = 0; p < kPrompt; ++p) {
      EXPECT_LT(relative_error(prompts[i]->cached(false, p), reference.keys(i, p)), 3 * kHalves);
      EXPECT_LT(relative_error(prompts[i]->cached(true, p), reference.values(i, p)), 3 * kHalves);
    }
  }
  for (std::uint32_t p = kPrompt; p < kTokens; ++p) {
    std::vector<double> hidden = token(model, p);
    const std::vector<double> expected = reference.next(hidden);
    DecodeBlock block = small_block(8, 4, p + 1);
    block.capacity = kTokens;
    for (std::uint32_t i = 0; i < kLayers; ++i) {
      block.routes = reference.routes(i);
      hidden = layers[i].next(block, hidden, *prompts[i], kPrompt);
    }
    EXPECT_LT(relative_error(hidden, expected), 3 * kHalves) << p;
  }
}

}  // namespace
}  // namespace lacuna::wse

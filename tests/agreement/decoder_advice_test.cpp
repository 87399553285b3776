// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <regex>
#include <string>

#include "sim/base/error.hpp"
#include "sim/machines/machine.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"

namespace lacuna::test {
namespace {

/// A decoder of so many layers that some contexts fit into its blocks.
ModelShape deep_decoder(Random& random) {
  ModelShape model = find_model_shape("qwen3-0.6b");
  model.name = "deep";
  model.kv_heads = pick<std::uint32_t>(random, {1, 2, 4, 8});
  model.heads = model.kv_heads * upto(random, 4);
  model.head_dim = model.rotated = 32 * upto(random, 2);
  model.width = 16 * upto(random, 16);
  model.ffn = 8 * upto(random, 32);
  model.layers = upto(random, 12);
  return model;
}

/// Why no core can hold a token at position `context`; empty if they can.
std::string refusal(const DecodeTimes& times, const ModelShape& model,
                    const DecodePlacement& placement, std::uint32_t context) {
  try {
    times.placed(model, placement, context);
    return "";
  } catch (const OutOfMemoryError& error) {
    return error.what();
  }
}

/// The number of positions that a refusal says would fit; 0: none is said.
std::uint32_t advised(const std::string& text) {
  std::smatch found;
  const std::regex said("; ([0-9]+) positions? would fit$");
  if (!std::regex_search(text, found, said)) return 0;
  return static_cast<std::uint32_t>(std::stoul(found[1]));
}

// Whatever is refused with a number of positions runs with that many, and with none more.
TEST(DecoderAdvice, ThatIsFollowedIsTakenAndOneMoreIsNot) {
  std::uint64_t followed = 0;
  for_each_draw([&](Random& random) {
    const ModelShape model = deep_decoder(random);
    DecodePlacement placement;
    placement.blocks_x = upto(random, 3);
    placement.blocks_y = upto(random, 2);
    placement.columns = model.kv_heads * pick<std::uint32_t>(random, {2, 4, 8});
    placement.rows = 8 * upto(random, 4);
    placement.batch = upto(random, 2);
    const std::unique_ptr<Machine> machine = make_wse_machine("drawn");
    const auto& params = static_cast<const WseParams&>(machine->parameters());
    const DecodeTimes times(params, Engine::event);
    const std::uint32_t most = advised(refusal(times, model, placement, 1U << 20U));
    if (most == 0) return;
    EXPECT_EQ(refusal(times, model, placement, most), "") << most;
    EXPECT_NE(refusal(times, model, placement, most + 1), "") << most;
    ++followed;
  });
  EXPECT_GE(5 * followed, draws()) << "too few of them hold any position";
}

// Whole layers in two blocks leave room for 1,232 positions, halves of layers for 1,152.
TEST(DecoderAdvice, IsOfTheBetterOfTwoPlacements) {
  ModelShape model = find_model_shape("qwen3-0.6b");
  model.name = "tinyffn";
  model.qk_norm = QkNorm::none;
  model.width = 128;
  model.ffn = 16;
  model.layers = 16;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_dim = model.rotated = 32;
  model.vocabulary = 1024;
  DecodePlacement placement;
  placement.blocks_y = 1;
  placement.columns = placement.rows = 16;
  const std::unique_ptr<Machine> machine = make_wse_machine("test");
  const auto& params = static_cast<const WseParams&>(machine->parameters());
  const DecodeTimes times(params, Engine::event);
  EXPECT_EQ(advised(refusal(times, model, placement, 1600)), 1232U);
  EXPECT_EQ(refusal(times, model, placement, 1232), "");
}

// A wafer of more rows than its cores are is refused with the number that fits: that is one.
TEST(WaferAdvice, RowsThatDoNotFitAreRefusedWithTheNumberThatDoes) {
  for_each_draw([&](Random& random) {
    const std::unique_ptr<Machine> machine = make_wse_machine("drawn");
    const std::uint32_t columns = upto(random, 700);
    const std::uint32_t rows = upto(random, 4000);
    const std::uint32_t cores = columns * rows + upto(random, columns) - 1;
    machine->set("wafer.cores", std::to_string(cores), "");
    machine->set("wafer.columns", std::to_string(columns), "");
    machine->set("wafer.rows", std::to_string(rows + 1), "");
    std::string said;
    try {
      machine->check();
    } catch (const ParameterError& error) {
      said = error.what();
    }
    std::smatch found;
    ASSERT_TRUE(std::regex_search(said, found, std::regex("set wafer.rows=([0-9]+)"))) << said;
    machine->set("wafer.rows", found[1], "");
    EXPECT_NO_THROW(machine->check()) << said;
    EXPECT_EQ(std::stoul(found[1]), rows) << said;
  });
}

}  // namespace
}  // namespace lacuna::test

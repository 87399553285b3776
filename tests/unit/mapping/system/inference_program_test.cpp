// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/inference_program.hpp"

#include <gtest/gtest.h>

#include "models/system/fabric.hpp"
#include "models/system/simulation.hpp"

namespace lacuna::system {
namespace {

constexpr std::uint64_t kHidden = 4096;
constexpr std::uint64_t kTokens = 64;

std::uint64_t at(const TimeStack& stack, Use use) { return stack[static_cast<std::size_t>(use)]; }

/// Three layers of 1,000 and 2,000 cycles at 1 GHz, 500 of them in exchange, on so many stages.
InferencePass pass_of(unsigned tensor, const std::vector<unsigned>& stages) {
  InferencePass pass;
  pass.tensor = tensor;
  SharedLayer layer;
  layer.attention.cycles = 1000;
  layer.ffn.cycles = 2000;
  layer.ffn.exchange_cycles = 500;
  pass.kinds = {layer};
  for (const unsigned count : stages) pass.stages.push_back({{0, count}});
  pass.embedding.cycles = 300;
  pass.head.cycles = 700;
  pass.hidden_bytes = kHidden;
  pass.choice_bytes = 8;
  pass.token_bytes = kTokens;
  return pass;
}

ProgramResult run(const Program& program) {
  const SystemParams params;
  return run_program(params, Fabric(params), program, {});
}

std::uint64_t bytes_on(const ProgramResult& result, ResourceKind kind) {
  const Fabric fabric{SystemParams()};
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < fabric.resources().size(); ++i) {
    if (fabric.resources()[i].kind == kind) sum += result.bytes[i];
  }
  return sum;
}

// One chip: 300 + 3 (1,000 + 2,000) + 700 ns, of which 3 * 500 are exchange; nothing goes over a
// link.
TEST(InferenceProgram, OneChipDoesAllLayersOneAfterTheOther) {
  const ProgramResult result = run(pass_program({}, pass_of(1, {3})));
  EXPECT_EQ(at(result.chips[0], Use::forward), 10'000U - 1'500U);
  EXPECT_EQ(at(result.chips[0], Use::exchange), 1'500U);
  EXPECT_EQ(bytes_on(result, ResourceKind::pair), 0U);
  EXPECT_GE(result.ns, 10'000U);
}

// Five segments (embedding, three layers, head) end with a barrier: of a chip alone 113 ns, of the
// four of its machine two hops there and back of 15 ns more.
TEST(InferenceProgram, AChipAloneWaitsForNoOther) {
  InferencePass pass = pass_of(1, {3});
  const Cycle together = run(pass_program({}, pass)).ns;
  pass.alone = true;
  const Cycle alone = run(pass_program({}, pass)).ns;
  EXPECT_EQ(alone, 10'000U + 5 * 113);
  EXPECT_EQ(together - alone, 5U * 4 * 15);
}

// Two stages on a pair of chips: the hidden vector goes over, the tokens come back, and chips wait
// for each other, so that the pass takes longer than on one.
TEST(InferenceProgram, StagesHandTheHiddenVectorOnAndTheTokensBack) {
  const ProgramResult one = run(pass_program({}, pass_of(1, {3})));
  const ProgramResult two = run(pass_program({}, pass_of(1, {2, 1})));
  EXPECT_EQ(at(two.chips[0], Use::forward), 300U + 2 * 2'500U);
  EXPECT_EQ(at(two.chips[1], Use::forward), 2'500U + 700U);
  EXPECT_EQ(bytes_on(two, ResourceKind::pair), kHidden + kTokens);
  // each of the two moves begins with a barrier of the pair
  EXPECT_GE(two.ns, one.ns + 2 * SystemParams().sync_ns(2));
}

// In a turn both stages work at once: it lasts as long as the first, 300 + 2 * 3,000 ns, and what
// is handed on, less than a pass.
TEST(InferenceProgram, ATurnIsAsLongAsTheSlowestStage) {
  const InferencePass pass = pass_of(1, {2, 1});
  const ProgramResult turn = run(turn_program({}, pass));
  EXPECT_GE(turn.ns, 6'300U);
  EXPECT_LT(turn.ns, 7'000U);
  EXPECT_EQ(bytes_on(turn, ResourceKind::pair), kHidden + kTokens);
  EXPECT_EQ(at(turn.chips[0], Use::forward), 300U + 2 * 2'500U);
  EXPECT_EQ(at(turn.chips[1], Use::forward), 2'500U + 700U);
}

// Two chips share all: the sums of the embedding and of both blocks of three layers, in each of
// which both chips send the whole vector once, and the gathered choice, 8 bytes from each.
TEST(InferenceProgram, BlocksEndWithASumOverTheChipsThatShareThem) {
  const ProgramResult result = run(pass_program({}, pass_of(2, {3})));
  EXPECT_EQ(bytes_on(result, ResourceKind::pair), (1 + 2 * 3) * 2 * kHidden + 2 * 8);
}

// Three loads of 38.4 * 0.85 = 32.64 bytes a nanosecond, about 1,000 ns and the memory's latency
// each. In the background two of them hide behind layers of 3,000 ns.
TEST(InferenceProgram, StreamedWeightsHideBehindTheLayerBefore) {
  InferencePass pass = pass_of(1, {3});
  const std::uint64_t resident = run(pass_program({}, pass)).ns;
  pass.kinds[0].load_bytes = 15'000;
  const ProgramResult waited = run(pass_program({}, pass));
  pass.in_background = true;
  const ProgramResult hidden = run(pass_program({}, pass));
  EXPECT_EQ(bytes_on(waited, ResourceKind::ddr), 45'000U);
  EXPECT_EQ(bytes_on(hidden, ResourceKind::ddr), 45'000U);
  const std::uint64_t load = (waited.ns - resident) / 3;
  EXPECT_GT(load, 1'000U);
  EXPECT_LT(hidden.ns, resident + load + load / 2);
  EXPECT_GT(hidden.ns, resident + load / 2);
}

}  // namespace
}  // namespace lacuna::system

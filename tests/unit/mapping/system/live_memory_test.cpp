// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/live_memory.hpp"

#include <gtest/gtest.h>

#include "workloads/generate/generator_table.hpp"

namespace lacuna {
namespace {

using system::LiveBytes;
using system::ModelParts;
using system::Part;
using system::PartCuts;

/// A layer of GPT of width d = 768 for T = 128 tokens: A = 2 d T bytes are a result of its width.
constexpr std::uint64_t kA = 2 * 768 * 128;

ModelParts gpt(const PartCuts& cuts) {
  return system::model_parts(generate_workload("gpt2", {{"part", "training"},
                                                        {"layers", "1"},
                                                        {"embedding", "1"},
                                                        {"heads", "1"},
                                                        {"tokens", "128"}}),
                             12, cuts);
}

LiveBytes of(const ModelParts& model, Part part, std::uint64_t held) {
  return live_bytes(model.of(part), held, held);
}

// Forward: the norm's result A and the wide result 4 A, which the activation function overwrites;
// then that and the result of the second matrix, A.
TEST(LiveMemory, AForwardPassHasTheWideResultAndWhatIsMadeOfIt) {
  const LiveBytes live = of(gpt({1, false}), Part::ffn, kA);
  EXPECT_EQ(live.forward, 5 * kA);
}

// Kept for the backward pass: the norm's result A, for the gradient of the first matrix; the wide
// result 4 A, for the activation function; what that made, 4 A, for the gradient of the second.
// On top at the fullest: the gradient of the result, A, which goes around the block too; that after
// dropout A; and that of the second matrix's operand 4 A.
TEST(LiveMemory, ABackwardPassKeepsTheOperandsOfProducts) {
  const LiveBytes live = of(gpt({1, false}), Part::ffn, kA);
  EXPECT_EQ(live.kept, 9 * kA);
  EXPECT_EQ(live.backward, (9 + 1 + 1 + 4) * kA);
}

// The gradient of a matrix of 3072 x 768 is 2 * 3072 * 768 bytes, 24 A, until it is added; the
// moment is that of the second matrix: 9 A kept, two gradients of A, one of 4 A.
TEST(LiveMemory, AGradientThatIsAddedIsThereByItself) {
  constexpr std::uint64_t kMatrix = 2 * 3072 * 768;
  EXPECT_EQ(of(gpt({1, true}), Part::ffn, kA).backward, 15 * kA + kMatrix);
  EXPECT_EQ(of(gpt({1, true, 1, 1, 4}), Part::ffn, kA).backward, 15 * kA + kMatrix / 4);
}

// Two chips: wide results are halves. The sequence shared: norms and gradients of width d are
// halves too, and products gather the other half. While the second matrix's operand gets its
// gradient: norm 1/2, wide 2 + 2, the gradient around the block 1/2 and after dropout 1/2, the
// result 2, and half of the gradient gathered.
TEST(LiveMemory, ChipsThatShareTheSequenceGatherOperands) {
  EXPECT_EQ(of(gpt({2, false}), Part::ffn, kA).backward, (1 + 2 + 2 + 1 + 1 + 2) * kA);
  const LiveBytes live = of(gpt({2, false, 1, 1, 1, true}), Part::ffn, kA / 2);
  EXPECT_EQ(live.kept, kA / 2 + 4 * kA);
  EXPECT_EQ(live.backward, kA / 2 + 4 * kA + kA / 2 + kA / 2 + 2 * kA + kA / 2);
}

// Scores of 12 heads are 2 * 12 * 128^2 bytes, 2 A. With heads in 3 parts a third of them is there;
// queries, keys and values are whole, 3 A, as are the norm's A and the context's A.
TEST(LiveMemory, PartsOfTheHeadsHaveTheirScoresOneAfterTheOther) {
  const LiveBytes whole = of(gpt({1, false}), Part::attention, kA);
  const LiveBytes parts = of(gpt({1, false, 3}), Part::attention, kA);
  // two of them: of softmax, and after dropout
  EXPECT_EQ(whole.kept, (1 + 3 + 2 * 2 + 1) * kA);
  EXPECT_EQ(parts.kept, (1 + 3 + 1) * kA + 2 * 2 * kA / 3);
}

TEST(LiveMemory, PartsOfTheTokensHaveTheirLogitsOneAfterTheOther) {
  const LiveBytes whole = of(gpt({1, false}), Part::head, kA);
  const LiveBytes parts = of(gpt({1, false, 1, 4}), Part::head, kA);
  constexpr std::uint64_t kLogits = 2 * 50257 * 128;
  // the norm's result is kept whole
  EXPECT_EQ(whole.kept, kA + kLogits);
  EXPECT_EQ(parts.kept, kA + kLogits / 4);
}

/// 8 x 8 numbers of FP16.
constexpr std::uint64_t kB = 128;

LayerOp row(const std::string& id, const std::string& op, const std::string& fn, Phase phase,
            const std::vector<std::string>& depends_on) {
  LayerOp made;
  made.id = id;
  made.op = op;
  made.fn = fn;
  made.phase = phase;
  made.m = made.k = made.n = 8;
  made.batch = 1;
  made.depends_on = depends_on;
  return made;
}

/// Two layers of a product and an activation function, B each; `again`: done again.
std::vector<LayerOp> two_layers(bool again) {
  std::vector<LayerOp> rows = {row("fwd.l0.a", "gemm", "", Phase::fwd, {}),
                               row("fwd.l0.f", "eltwise", "gelu", Phase::fwd, {"fwd.l0.a"}),
                               row("fwd.l1.a", "gemm", "", Phase::fwd, {"fwd.l0.f"}),
                               row("fwd.l1.f", "eltwise", "gelu", Phase::fwd, {"fwd.l1.a"})};
  const auto add_again = [&](const std::string& layer) {
    if (!again) return;
    rows.push_back(row("bwd." + layer + ".a_again", "gemm", "", Phase::fwd, {rows.back().id}));
    rows.push_back(row("bwd." + layer + ".f_again", "eltwise", "gelu", Phase::fwd,
                       {"bwd." + layer + ".a_again"}));
  };
  add_again("l1");
  rows.push_back(row("bwd.l1.f", "eltwise", "gelu", Phase::bwd, {}));
  rows.push_back(row("bwd.l1.a_dx", "gemm", "", Phase::bwd, {"bwd.l1.f"}));
  rows.push_back(row("bwd.l1.a_dw", "sddmm", "", Phase::bwd, {"bwd.l1.f"}));
  add_again("l0");
  rows.push_back(row("bwd.l0.f", "eltwise", "gelu", Phase::bwd, {"bwd.l1.a_dx"}));
  rows.push_back(row("bwd.l0.a_dw", "sddmm", "", Phase::bwd, {"bwd.l0.f"}));
  return rows;
}

// Kept: what both functions were made of, and the operand of the second product. The fullest
// moment is that of the second layer's last result, and again that of its operand's gradient.
TEST(LiveMemory, ATraceKeepsWhatItsBackwardRowsRead) {
  const LiveBytes live = system::live_bytes(two_layers(false));
  EXPECT_EQ(live.kept, 3 * kB);
  EXPECT_EQ(live.backward, 4 * kB);
}

// Done again, the second layer needs its input alone, and the first nothing that is made here. At
// the fullest a layer's input, the product done again, and what is made of one of them.
TEST(LiveMemory, ATraceThatIsDoneAgainKeepsTheInputsOfItsLayers) {
  const LiveBytes live = system::live_bytes(two_layers(true));
  EXPECT_EQ(live.forward, 2 * kB);
  EXPECT_EQ(live.kept, 1 * kB);
  EXPECT_EQ(live.backward, 3 * kB);
}

}  // namespace
}  // namespace lacuna

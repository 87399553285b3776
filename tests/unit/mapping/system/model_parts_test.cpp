// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/model_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"

namespace lacuna {
namespace {

using system::ModelParts;
using system::Part;

WorkloadTrace small_trace() {
  return generate_workload("bert-tiny", {{"part", "training"},
                                         {"layers", "1"},
                                         {"embedding", "1"},
                                         {"heads", "1"},
                                         {"tokens", "16"},
                                         {"optimizer", "lamb"}});
}

// A cut over t chips leaves 1 / t of every matrix; norms and biases after reductions stay whole.
TEST(ModelParts, EachOfTheChipsThatShareAMatrixHasItsPart) {
  const WorkloadTrace trace = small_trace();
  const ModelParts whole = system::model_parts(trace, 2, {1, true});
  const ModelParts half = system::model_parts(trace, 2, {2, true});
  const auto elements = [](const ModelParts& model, Part part) {
    return system::trained_numbers(model.of(part).update, model.trace, "sgd").elements;
  };
  // width 128: q, k, v, o are 4 d^2 with biases 3 d cut, o's bias d and a norm 2 d whole
  EXPECT_EQ(elements(whole, Part::attention), 4U * 128 * 128 + 3 * 128 + 128 + 2 * 128);
  EXPECT_EQ(elements(half, Part::attention), 2U * 128 * 128 + 3 * 64 + 128 + 2 * 128);
  EXPECT_EQ(elements(whole, Part::ffn), 2U * 128 * 512 + 512 + 128 + 2 * 128);
  EXPECT_EQ(elements(half, Part::ffn), 128U * 512 + 256 + 128 + 2 * 128);
}

// Forward, data gradient and weight gradient of a projection to more rows, and of one back.
TEST(ModelParts, ProductsAreCutOnTheSideThatIsShared) {
  const ModelParts half = system::model_parts(small_trace(), 2, {2, false});
  const auto find = [&](const std::vector<LayerOp>& rows, const std::string& id) {
    for (const LayerOp& op : rows) {
      if (op.id == id)
        return std::to_string(op.m) + "x" + std::to_string(op.k) + "x" + std::to_string(op.n);
    }
    return std::string("none");
  };
  const system::PartRows& ffn = half.of(Part::ffn);
  EXPECT_EQ(find(ffn.forward, "fwd.l0.ffn1"), "256x128x16");
  EXPECT_EQ(find(ffn.backward, "bwd.l0.ffn1_dx"), "128x256x16");
  EXPECT_EQ(find(ffn.backward, "bwd.l0.ffn1_dw"), "256x16x128");
  EXPECT_EQ(find(ffn.forward, "fwd.l0.ffn2"), "128x256x16");
  EXPECT_EQ(find(ffn.backward, "bwd.l0.ffn2_dx"), "256x128x16");
  EXPECT_EQ(find(ffn.backward, "bwd.l0.ffn2_dw"), "128x16x256");
}

std::string sizes(const std::vector<LayerOp>& rows, const std::string& id) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const LayerOp& op) { return op.id == id; });
  if (row == rows.end()) return "none";
  return std::to_string(row->m) + "x" + std::to_string(row->k) + "x" + std::to_string(row->n) +
         " batch " + std::to_string(row->batch);
}

// Width 128, 512 in between, 2 heads of 64, 16 tokens; 4 chips as 2 x 2: rows of first products
// over two, their depth over the other two, last products the other way around; one head each and
// half of its queries; half of the features of norms and residuals.
TEST(ModelParts, MatricesAreCutInTwoDimensions) {
  system::PartCuts cuts;
  cuts.tensor = 4;
  cuts.columns = 2;
  const ModelParts parts = system::model_parts(small_trace(), 2, cuts);
  const system::PartRows& attention = parts.of(Part::attention);
  const system::PartRows& ffn = parts.of(Part::ffn);
  EXPECT_EQ(sizes(attention.forward, "fwd.l0.q"), "64x64x16 batch 1");
  EXPECT_EQ(sizes(attention.forward, "fwd.l0.o"), "64x64x16 batch 1");
  EXPECT_EQ(sizes(ffn.forward, "fwd.l0.ffn1"), "256x64x16 batch 1");
  EXPECT_EQ(sizes(ffn.backward, "bwd.l0.ffn1_dx"), "64x256x16 batch 1");
  EXPECT_EQ(sizes(ffn.backward, "bwd.l0.ffn1_dw"), "256x16x64 batch 1");
  EXPECT_EQ(sizes(ffn.forward, "fwd.l0.ffn2"), "64x256x16 batch 1");
  EXPECT_EQ(sizes(ffn.backward, "bwd.l0.ffn2_dx"), "256x64x16 batch 1");
  EXPECT_EQ(sizes(ffn.backward, "bwd.l0.ffn2_dw"), "64x16x256 batch 1");
  EXPECT_EQ(sizes(attention.forward, "fwd.l0.scores"), "8x64x16 batch 1");
  EXPECT_EQ(sizes(attention.forward, "fwd.l0.ctx"), "8x16x64 batch 1");
  EXPECT_EQ(sizes(attention.backward, "bwd.l0.ctx_dv"), "16x8x64 batch 1");
  EXPECT_EQ(sizes(attention.backward, "bwd.l0.scores_dq"), "8x16x64 batch 1");
  EXPECT_EQ(sizes(attention.backward, "bwd.l0.scores_dk"), "16x8x64 batch 1");
  EXPECT_EQ(parts.first_bytes[static_cast<std::size_t>(Part::attention)], 3U * 128 * 16 * 2);
  EXPECT_EQ(parts.last_bytes[static_cast<std::size_t>(Part::ffn)], 512U * 16 * 2);
  // a quarter of each matrix; biases of first products over all, the rest over the two columns
  EXPECT_EQ(system::trained_numbers(ffn.update, parts.trace, "sgd").elements,
            2U * 128 * 512 / 4 + 512 / 4 + 3 * 128 / 2);
}

WorkloadTrace sparse_trace() {
  return generate_workload("bert-tiny", {{"part", "training"},
                                         {"layers", "1"},
                                         {"embedding", "1"},
                                         {"heads", "1"},
                                         {"tokens", "16"},
                                         {"pattern", "block16:0.5"},
                                         {"mode", "static"}});
}

// Half of 512 x 128 in blocks of 16 has 16 x 8 of them, half of which are kept; the rows that
// refer to it, transposed or not, are those of the share.
TEST(ModelParts, AShareOfASparseMatrixHasItsPatternAndDensity) {
  const ModelParts half = system::model_parts(sparse_trace(), 2, {2, false});
  const system::PartRows& ffn = half.of(Part::ffn);
  const auto row = [](const std::vector<LayerOp>& rows, const std::string& id) {
    return *std::find_if(rows.begin(), rows.end(), [&](const LayerOp& op) { return op.id == id; });
  };
  EXPECT_EQ(row(ffn.forward, "fwd.l0.ffn1").m, 256U);
  EXPECT_EQ(row(ffn.forward, "fwd.l0.ffn1").pattern.name, "block");
  EXPECT_EQ(row(ffn.backward, "bwd.l0.ffn1_dx").k, 256U);
  EXPECT_EQ(row(ffn.backward, "bwd.l0.ffn1_dw").m, 256U);
  EXPECT_EQ(row(ffn.backward, "bwd.l0.ffn2_dw").n, 256U);
  EXPECT_EQ(row(ffn.update, "upd.l0.ffn2").k, 256U);
  EXPECT_EQ(row(half.trace.ops, "fwd.l0.ffn1").m, 256U);
  // 2 matrices of 256 x 128 at 1/2, the bias of 256; another bias and the norm of 128 whole
  EXPECT_EQ(system::trained_numbers(ffn.update, half.trace, "sgd").elements,
            256U * 128 + 256 + 3 * 128);
}

TEST(ModelParts, AShareWithoutWholeBlocksIsRefused) {
  EXPECT_THROW(system::model_parts(sparse_trace(), 2, {64, false}), RequestError);
}

TEST(ModelParts, AGradientOfSeveralMicroBatchesIsAdded) {
  const ModelParts with = system::model_parts(small_trace(), 2, {1, true});
  const ModelParts without = system::model_parts(small_trace(), 2, {1, false});
  // q, k, v and o have one each
  EXPECT_EQ(with.of(Part::attention).backward.size(),
            without.of(Part::attention).backward.size() + 4);
}

// 16 tokens. A layer norm has two sums of FP32 for each, of all tokens or those of a row of chips;
// chips in one dimension have whole features. Logits of 20 masked tokens, or of GPT's all, in
// parts.
TEST(ModelParts, NormsAndLogitsAreSharedWhereTheirFeaturesAndVocabularyAre) {
  const auto made = [](system::PartCuts cuts) { return model_parts(small_trace(), 2, cuts); };
  system::PartCuts cuts;
  EXPECT_EQ(made(cuts).logits.parts, 0U);
  cuts.tensor = 2;
  const auto attention = static_cast<std::size_t>(Part::attention);
  const auto ffn = static_cast<std::size_t>(Part::ffn);
  EXPECT_EQ(made(cuts).norms.at(ffn).count, 0U);
  EXPECT_EQ(made(cuts).logits.parts, 1U);
  EXPECT_EQ(made(cuts).logits.operand_bytes, 128U * 20 * 2);
  EXPECT_EQ(made(cuts).logits.number_bytes, 20U * 4);
  cuts.tensor = 4;
  cuts.columns = 2;
  cuts.head_parts = 4;
  EXPECT_EQ(made(cuts).norms.at(attention).count, 1U);
  EXPECT_EQ(made(cuts).norms.at(ffn).bytes, 2U * 4 * 16);
  EXPECT_EQ(made(cuts).logits.parts, 4U);
  EXPECT_EQ(made(cuts).logits.number_bytes, 5U * 4);
  cuts.share_sequence = true;
  EXPECT_EQ(made(cuts).norms.at(ffn).bytes, 2U * 4 * 8);
}

}  // namespace
}  // namespace lacuna

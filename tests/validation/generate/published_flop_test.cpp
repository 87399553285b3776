// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "workloads/generate/transformer.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

using Part = TransformerOptions::Part;

// 2 * useful MACs of one sequence. A mask of one layer stands for those of all, whose numbers of
// non-zeros are the same.
double useful_flop(const char* model, std::uint32_t tokens, const char* pattern, bool heads,
                   Part part = Part::forward) {
  const ModelShape& shape = find_model_shape(model);
  TransformerOptions options;
  options.part = part;
  options.tokens = tokens;
  options.layers = 1;
  options.pattern = parse_pattern(pattern);
  std::uint64_t layer = 0;
  const WorkloadTrace one = make_transformer(shape, options);
  for (const LayerOp& op : one.ops) {
    const auto mask = make_mask(op, one, 1);
    layer += cost_of(op, mask ? mask->nnz() : masked_elements(op)).useful_macs;
  }
  std::uint64_t head = 0;
  options.heads = heads;
  for (const LayerOp& op : make_transformer(shape, options).ops) {
    if (op.id.find(".head.") != op.id.npos) head += cost_of(op, masked_elements(op)).useful_macs;
  }
  return 2 * static_cast<double>(layer * shape.layers + head);
}

// Dietrich et al., Towards Structured Dynamic Sparse Pre-Training of BERT, arXiv 2108.06277: FLOP
// of a training sequence of 128 tokens; 0.5 % for their rounding to three or four digits.
TEST(PublishedFlop, OfDynamicSparseBertIsReproduced) {
  const auto training = [](const char* model, const char* pattern) {
    return useful_flop(model, 128, pattern, false, Part::training);
  };
  EXPECT_EQ(training("bert-mini", "dense"), 2617245696.0);    // 2.617e9
  EXPECT_EQ(training("bert-small", "dense"), 10066329600.0);  // 10.07e9
  EXPECT_NEAR(training("bert-medium", "unstructured:0.1"), 2.738e9, 0.005 * 2.738e9);
  EXPECT_EQ(training("bert-base", "unstructured:0.1"), 8334895104.0);  // 8.33e9
  EXPECT_EQ(training("bert-base", "block16:0.1"), 8328314880.0);
}

// Thangarasa et al., SPDF, arXiv 2303.10464, GPT-3 XL with 75 % of the weights of attention and
// feed-forward removed: 2.5 times fewer FLOP; and, pruned iteratively to 83.8 %, 3 times fewer
// at inference. Attention counted in full, head included.
TEST(PublishedFlop, ReductionsOfSparseGptAreReproduced) {
  const double dense = useful_flop("gpt3-xl", 2048, "dense", true);
  EXPECT_NEAR(dense / useful_flop("gpt3-xl", 2048, "unstructured:0.25", true), 2.494, 0.0005);
  EXPECT_NEAR(dense / useful_flop("gpt3-xl", 2048, "unstructured:0.5", true), 1.665, 0.0005);
  EXPECT_NEAR(dense / useful_flop("gpt3-xl", 2048, "unstructured:0.162", true), 3.025, 0.0005);
}

}  // namespace
}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lacuna {

/// Where norms stand, how tokens are placed and what a feed-forward block is, unless a shape says
/// otherwise. BERT normalises after a block, the others before it. Llama rotates queries and keys
/// and has gated blocks without biases.
enum class ModelFamily { bert, gpt, opt, llama, group_bert };

/// "bert", "gpt", "opt", "llama", "groupbert".
const char* family_name(ModelFamily family);

/// Whose names the weights have in files; none: those of no maker.
enum class WeightNames { none, bert, opt, llama, mixtral, phi3, gpt2, neox };

/// Which numbers of queries and keys are normalised together, before they are rotated.
enum class QkNorm { none, head, width };

/// Experts in place of the feed-forward block of a layer: gated blocks of which each token takes
/// `chosen`, those with the largest scores of a linear router.
struct ExpertShape {
  std::uint32_t count = 0;  // 0: no experts
  std::uint32_t chosen = 0;
  std::uint32_t ffn = 0;     // inner width of one
  std::uint32_t shared = 0;  // inner width of the block that every token takes; 0: none
  bool shared_gate = false;  // a product and a sigmoid scale its result
  bool one_by_one = false;   // a softmax for each choice, as SparseMixer has it
  std::vector<bool> dense;   // by layer: a dense block instead; empty: none
};

/// Where training drops values.
struct DropoutShape {
  bool embedding = true;
  bool attention = true;
  bool hidden = true;  // results of blocks
};

/// The shape of a transformer.
struct ModelShape {
  std::string name;
  ModelFamily family = ModelFamily::bert;
  std::uint32_t layers = 0;
  std::uint32_t width = 0;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t ffn = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t positions = 0;
  std::string source;

  std::uint32_t head_dim = 0;  // of a head; 0: width over heads
  std::uint32_t rotated = 0;   // features of a head that are rotated, an even number; 0: none
  QkNorm qk_norm = QkNorm::none;
  bool rms = false;                 // norms without mean and offset
  bool pre_norms = true;            // of what a block reads, in families that norm it
  bool post_norms = false;          // of the results of blocks too, before they are added
  bool parallel = false;            // both blocks of a layer read its input
  bool gated = false;               // the feed-forward block multiplies two products
  std::string activation = "gelu";  // gelu, relu or silu
  bool qkv_bias = true;
  bool out_bias = true;  // of the product after attention
  bool ffn_bias = true;
  bool head_bias = false;
  bool tied = true;               // the output product has the table of tokens as its weights
  bool position_table = true;     // of trained positions
  std::uint32_t types = 2;        // rows of BERT's table of token types
  bool scaled_embedding = false;  // by the root of the width
  bool score_cap = false;         // scores pass a tanh
  bool logit_cap = false;         // logits do
  bool scaled_residual = false;   // results of blocks are scaled before they are added
  bool scaled_logits = false;
  std::vector<bool> unrotated;         // by layer: queries and keys are not rotated; empty: all are
  std::vector<std::uint32_t> windows;  // by layer: keys that a token sees, itself one; 0: all
  ExpertShape experts;
  DropoutShape dropout;
  WeightNames names = WeightNames::none;

  std::uint32_t head_width() const { return head_dim == 0 ? width / heads : head_dim; }
  std::uint32_t query_width() const { return heads * head_width(); }
  std::uint32_t kv_width() const { return kv_heads * head_width(); }
  /// Of the layer; 0 if all earlier tokens are seen.
  std::uint32_t window(std::uint32_t layer) const {
    return layer < windows.size() ? windows[layer] : 0;
  }
  bool has_experts(std::uint32_t layer) const;
  bool rotates(std::uint32_t layer) const {
    return rotated != 0 && !(layer < unrotated.size() && unrotated[layer]);
  }
};

/// A shape with all that its family says; sizes are 0.
ModelShape shape_of_family(ModelFamily family);

/// The shapes that are known by name.
const std::vector<ModelShape>& model_shapes();

/// The shape of that name; RequestError with the nearest one if there is none.
const ModelShape& find_model_shape(const std::string& name);

/// Words that `--size` refines beside families, with the names that begin so: "qwen3", "mixtral".
std::vector<std::string> model_series();

/// Trained numbers of the whole model. BERT: with pooler and without language-model head.
std::uint64_t parameter_count(const ModelShape& shape);

/// Those that one token meets: of the experts of a layer only as many as it takes.
std::uint64_t active_parameter_count(const ModelShape& shape);

}  // namespace lacuna

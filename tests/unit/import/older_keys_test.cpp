// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "workloads/generate/model_shape.hpp"
#include "workloads/import/model_file.hpp"

namespace lacuna {
namespace {

/// GPT-NeoX-20B as its makers publish it, with these drop-outs.
std::string neox(const std::string& attention, const std::string& hidden) {
  return R"({"architectures": ["GPTNeoXForCausalLM"], "attention_probs_dropout_prob": )" +
         attention + R"(, "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "gelu_fast",
      "hidden_dropout_prob": )" +
         hidden + R"(, "hidden_size": 6144, "initializer_range": 0.02, "intermediate_size": 24576,
      "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "gpt_neox",
      "num_attention_heads": 64, "num_hidden_layers": 44, "rotary_emb_base": 10000,
      "rotary_pct": 0.25, "tie_word_embeddings": false, "torch_dtype": "float16",
      "transformers_version": "4.19.0.dev0", "use_cache": true, "vocab_size": 50432})";
}

// 44 (4 (6144^2 + 6144) + 2 * 6144 * 24576 + 24576 + 6144 + 4 * 6144) + 2 * 50432 * 6144
// + 2 * 6144 = 20,554,567,680, as published.
TEST(OlderKeys, OfGptNeoXAreItsDropouts) {
  const ModelShape none = read_model_file(neox("0", "0"), "config.json").shape;
  EXPECT_EQ(parameter_count(none), 20554567680U);
  EXPECT_FALSE(none.dropout.attention || none.dropout.hidden || none.dropout.embedding);
  const ModelShape attention = read_model_file(neox("0.1", "0"), "config.json").shape;
  EXPECT_TRUE(attention.dropout.attention);
  EXPECT_FALSE(attention.dropout.hidden);
  const ModelShape hidden = read_model_file(neox("0", "0.1"), "config.json").shape;
  EXPECT_TRUE(hidden.dropout.hidden && hidden.dropout.embedding);
  EXPECT_FALSE(hidden.dropout.attention);
}

}  // namespace
}  // namespace lacuna

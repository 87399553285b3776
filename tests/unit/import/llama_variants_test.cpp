// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/inference/model_rows.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A configuration of these sizes, and what else it says.
std::string config(const std::string& type, const std::string& architecture, int width, int ffn,
                   int layers, int heads, int kv, int vocabulary, const std::string& more) {
  return fmt::format(
      R"({{"model_type": "{}", "architectures": ["{}"], "hidden_size": {}, "intermediate_size": {},
"num_hidden_layers": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "vocab_size": {},
"max_position_embeddings": 4096, "hidden_act": "silu", "rms_norm_eps": 1e-06,
"torch_dtype": "bfloat16"{}}})",
      type, architecture, width, ffn, layers, heads, kv, vocabulary, more);
}

std::uint64_t parameters(const std::string& text) {
  return parameter_count(read_model_file(text, "config.json").shape);
}

std::map<std::string, LayerOp> rows_of(const std::string& text, const Pairs& settings) {
  std::map<std::string, LayerOp> rows;
  for (const LayerOp& op : import_text(text, "config.json", settings).trace.ops) rows[op.id] = op;
  return rows;
}

// Two tables of 151936 x 4096; a layer has 2 x 4096^2 + 2 x 4096 x 1024 weights of attention, 3 x
// 4096 x 12288 of its block, and norms of 2 x 4096 + 2 x 128 numbers. 36 of them and a norm.
TEST(LlamaVariants, TheTextOfQwen3VlIsQwen3) {
  const std::string text = config("qwen3_vl_text", "", 4096, 12288, 36, 32, 8, 151936,
                                  R"(, "head_dim": 128, "attention_bias": false,
"rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"})");
  std::string inner = text;
  inner.replace(inner.find(R"("architectures": [""], )"), 23, "");
  const std::string all = R"({"architectures": ["Qwen3VLForConditionalGeneration"],
"model_type": "qwen3_vl", "image_token_id": 151655, "video_token_id": 151656,
"vision_start_token_id": 151652, "vision_end_token_id": 151653, "tie_word_embeddings": false,
"vision_config": {"depth": 27, "hidden_size": 1152}, "text_config": )" +
                          inner + "}";
  EXPECT_EQ(parameters(all), 8190735360U);
  EXPECT_TRUE(read_model_file(all, "config.json").other_parts);
  EXPECT_EQ(rows_of(all, {{"tokens", "1"}, {"layers", "1"}}).count("fwd.l0.q_norm"), 1U);
}

// As Qwen2 with heads of 128: 2 x 151680 x 4096 in tables; a layer 2 x 4096^2 + 2 x 4096 x 1024 +
// 6144 + 3 x 4096 x 11008 + 8192 = 177223680; 36 of them and a norm of 4096.
TEST(LlamaVariants, MiMoIsQwen2WithoutItsFurtherLayer) {
  const std::string text =
      config("mimo", "MiMoForCausalLM", 4096, 11008, 36, 32, 8, 151680,
             R"(, "head_dim": 128, "attention_bias": true, "num_nextn_predict_layers": 1,
"sliding_window": null, "use_sliding_window": false)");
  EXPECT_EQ(parameters(text), 7622619136U);
  EXPECT_THAT(import_text(text, "config.json", {{"tokens", "1"}, {"layers", "1"}}).notes,
              Contains(HasSubstr("num_nextn_predict_layers: 1 layer")));
}

// 128256 x 2048 in one table; a layer 2 x 2048^2 + 2 x 2048 x 512 + 3 x 2048 x 11008 + 4096 =
// 78123008; 36 of them and a norm of 2048. Every fourth layer has no rotation.
TEST(LlamaVariants, SomeLayersOfSmolLm3AreNotRotated) {
  const std::string list =
      "1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0";
  const std::string more = R"(, "tie_word_embeddings": true, "attention_bias": false,
"no_rope_layer_interval": 4, "use_sliding_window": false, "no_rope_layers": [)";
  const auto text = [&](const std::string& layers) {
    return config("smollm3", "SmolLM3ForCausalLM", 2048, 11008, 36, 16, 4, 128256,
                  more + layers + "]");
  };
  EXPECT_EQ(parameters(text(list)), 3075098624U);
  const auto rows = rows_of(text(list), {{"tokens", "1"}, {"layers", "4"}});
  EXPECT_EQ(rows.count("fwd.l2.q_rope"), 1U);
  EXPECT_EQ(rows.count("fwd.l3.q_rope"), 0U);
  EXPECT_THAT(rows.at("fwd.l3.scores").depends_on, testing::ElementsAre("fwd.l3.q", "fwd.l3.k"));
  EXPECT_THAT([&] { parameters(text("1,0")); },
              ThrowsMessage<TraceError>(HasSubstr("key 'no_rope_layers': error E214")));
}

// On chips one layer stands for all of its kind.
TEST(LlamaVariants, LayersThatAreNotRotatedAreOfAnotherKind) {
  ModelShape model = find_model_shape("llama3-8b");
  model.layers = 5;
  model.unrotated = {false, false, true, false, true};
  const std::vector<LayerKind> kinds = kinds_of_layers(model);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_THAT(kinds[0].layers, testing::ElementsAre(0, 1, 3));
  EXPECT_TRUE(kinds[0].shape.rotates(0));
  EXPECT_THAT(kinds[1].layers, testing::ElementsAre(2, 4));
  EXPECT_FALSE(kinds[1].shape.rotates(0));
}

// 2 x 100352 x 4096 in tables; a layer 4 x 4096^2 + 3 x 4096 x 11008 + 2 x 4096 of its norms + 2 x
// 4096 of those of queries and keys = 202391552; 32 of them and a norm of 4096.
TEST(LlamaVariants, Olmo2NormsWhatItsBlocksGive) {
  const std::string text = config("olmo2", "Olmo2ForCausalLM", 4096, 11008, 32, 32, 32, 100352,
                                  R"(, "tie_word_embeddings": false, "attention_bias": false)");
  EXPECT_EQ(parameters(text), 7298617344U);
  const auto rows = rows_of(text, {{"tokens", "1"}, {"layers", "2"}});
  EXPECT_EQ(rows.count("fwd.l0.ln1"), 0U);
  EXPECT_EQ(rows.at("fwd.l0.q_norm").m, 4096U);
  EXPECT_THAT(rows.at("fwd.l0.o_post_ln").depends_on, testing::ElementsAre("fwd.l0.o"));
  EXPECT_THAT(rows.at("fwd.l1.q").depends_on, testing::ElementsAre("fwd.l0.f_add"));
}

// 49155 x 2048 in one table; a layer 2 x 2048^2 + 2 x 2048 x 512 + 3 x 2048 x 8192 + 4096 =
// 60821504; 40 of them and a norm of 2048.
TEST(LlamaVariants, GraniteScalesEmbeddingsBlocksAndLogits) {
  const std::string text =
      config("granite", "GraniteForCausalLM", 2048, 8192, 40, 32, 8, 49155,
             R"(, "tie_word_embeddings": true, "attention_bias": false, "mlp_bias": false,
"embedding_multiplier": 12.0, "attention_multiplier": 0.015625, "residual_multiplier": 0.22,
"logits_scaling": 8.0)");
  EXPECT_EQ(parameters(text), 2533531648U);
  const auto rows =
      rows_of(text, {{"tokens", "1"}, {"layers", "1"}, {"embedding", "1"}, {"heads", "1"}});
  for (const char* row :
       {"fwd.embed.scale", "fwd.l0.o_scale", "fwd.l0.f_scale", "fwd.head.logit_scale"}) {
    EXPECT_EQ(rows.count(row), 1U) << row;
  }
}

// Layers with all that is in the names of others are refused for what they really have.
TEST(LlamaVariants, RefusalsSayTheTrueReason) {
  const auto refuses = [](const std::string& type, const std::string& more,
                          const std::string& reason) {
    EXPECT_THAT([&] { parameters(config(type, "", 64, 64, 2, 2, 2, 100, ", " + more)); },
                ThrowsMessage<TraceError>(HasSubstr(reason)))
        << more;
  };
  refuses("minimax_m2", R"("attn_type_list": [1, 1], "use_qk_norm": true)",
          "keys of this one that were not understood: use_qk_norm");
  refuses("minimax_m1", R"("attn_type_list": [0, 1])", "linear attention");
  refuses("qwen3_next", R"("linear_num_key_heads": 4, "attn_gate": true,
"layer_types": ["full_attention", "full_attention"])",
          "not known");
  refuses("qwen3_next", R"("layer_types": ["linear_attention", "full_attention"])",
          "linear attention");
  refuses("mimo_v2_flash", R"("attention_chunk_size": 128, "add_swa_attention_sink_bias": true)",
          "attention sinks");
  refuses("llama4_text", R"("attention_chunk_size": 128)", "attention in chunks");
  refuses("llama", R"("rope_theta": Infinity)",
          "found 'Infinity'; allowed: a number or null: JSON has no Infinity");
}

}  // namespace
}  // namespace lacuna

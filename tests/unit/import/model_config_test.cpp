// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/json_edit.hpp"
#include "tests/support/paths.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/look_ups.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr auto with = test::with_member;

const Pairs kOneToken = {{"part", "decode"}, {"context", "1"}, {"layers", "1"}};
const Pairs kOneLayer = {{"tokens", "1"}, {"layers", "1"}};  // of encoders too

Imported read(const std::string& text, const Pairs& settings = kOneToken) {
  return import_text(text, "model.json", settings);
}

std::string shipped(const std::string& name) {
  return read_text_file(test::source_path("traces/configs/" + name));
}

// "TYPE, L layers, N parameters in all, ..."
std::uint64_t parameters(const Imported& imported) {
  const std::string& note = imported.notes.back();
  return std::stoull(note.substr(note.find("layers, ") + 8));
}

std::map<std::string, LayerOp> rows_of(const Imported& imported) {
  std::map<std::string, LayerOp> rows;
  for (const LayerOp& op : imported.trace.ops) rows[op.id] = op;
  return rows;
}

std::vector<std::uint32_t> sizes(const LayerOp& op) { return {op.m, op.k, op.n, op.batch}; }

// A configuration as its maker publishes it, and the parameters published with its weights.
struct Published {
  const char* name;
  std::uint64_t parameters;
  const char* text;
};

const std::vector<Published>& published() {
  static const std::vector<Published> kPublished = {
      // 32 (2 * 4096^2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) + 2 * 32000 * 4096 + 4096
      {"Mistral-7B-v0.1", 7241732096,
       R"({"architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
       "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
       "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
       "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
       "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
       "tie_word_embeddings": false, "torch_dtype": "bfloat16",
       "transformers_version": "4.34.0.dev0", "use_cache": true, "vocab_size": 32000})"},
      // 40 (2 * 5120 * 4096 + 2 * 5120 * 1024 + 3 * 5120 * 14336 + 2 * 5120) + 2 * 131072 * 5120
      // + 5120
      {"Mistral-Nemo-Base-2407", 12247782400,
       R"({"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1,
       "eos_token_id": 2, "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120,
       "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 131072,
       "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 40,
       "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0,
       "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
       "transformers_version": "4.43.0.dev0", "use_cache": true, "vocab_size": 131072})"},
      // 36 (2 * 2560 * 4096 + 2 * 2560 * 1024 + 3 * 2560 * 9728 + 2 * 2560 + 2 * 128)
      // + 151936 * 2560 + 2560: the table of tokens is the head
      {"Qwen3-4B", 4022468096,
       R"({"architectures": ["Qwen3ForCausalLM"], "attention_bias": false,
       "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128,
       "hidden_act": "silu", "hidden_size": 2560, "initializer_range": 0.02,
       "intermediate_size": 9728, "max_position_embeddings": 40960, "max_window_layers": 36,
       "model_type": "qwen3", "num_attention_heads": 32, "num_hidden_layers": 36,
       "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null,
       "rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true,
       "torch_dtype": "bfloat16", "transformers_version": "4.51.0", "use_cache": true,
       "use_sliding_window": false, "vocab_size": 151936})"},
      // 28 (2 * 3584^2 + 2 * 3584 * 512 + 3584 + 2 * 512 + 3 * 3584 * 18944 + 2 * 3584)
      // + 2 * 152064 * 3584 + 3584: queries, keys and values have biases, though no key says so
      {"Qwen2-7B", 7615616512,
       R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0,
       "bos_token_id": 151643, "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 3584,
       "initializer_range": 0.02, "intermediate_size": 18944, "max_position_embeddings": 131072,
       "max_window_layers": 28, "model_type": "qwen2", "num_attention_heads": 28,
       "num_hidden_layers": 28, "num_key_value_heads": 4, "rms_norm_eps": 1e-06,
       "rope_theta": 1000000.0, "sliding_window": 131072, "tie_word_embeddings": false,
       "torch_dtype": "bfloat16", "transformers_version": "4.41.2", "use_cache": true,
       "use_sliding_window": false, "vocab_size": 152064})"},
      // 24 (4 * 2048^2 + 3 * 2048 + 60 * 3 * 2048 * 1408 + 60 * 2048 + 3 * 2048 * 5632 + 2048
      // + 2 * 2048) + 2 * 151936 * 2048 + 2048: 2048 for the gate of the shared expert
      {"Qwen1.5-MoE-A2.7B", 14315784192,
       R"({"architectures": ["Qwen2MoeForCausalLM"], "attention_dropout": 0.0,
       "bos_token_id": 151643, "decoder_sparse_step": 1, "eos_token_id": 151643,
       "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
       "intermediate_size": 5632, "max_position_embeddings": 8192, "max_window_layers": 21,
       "model_type": "qwen2_moe", "moe_intermediate_size": 1408, "norm_topk_prob": false,
       "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
       "num_hidden_layers": 24, "num_key_value_heads": 16, "output_router_logits": false,
       "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.001,
       "shared_expert_intermediate_size": 5632, "sliding_window": 32768,
       "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.39.0",
       "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})"},
      // 18 (2 * 2048^2 + 2 * 2048 * 256 + 3 * 2048 * 16384 + 2 * 2048) + 256000 * 2048 + 2048
      {"gemma-2b", 2506172416,
       R"({"architectures": ["GemmaForCausalLM"], "attention_bias": false,
       "attention_dropout": 0.0, "bos_token_id": 2, "eos_token_id": 1, "head_dim": 256,
       "hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2048,
       "initializer_range": 0.02, "intermediate_size": 16384, "max_position_embeddings": 8192,
       "model_type": "gemma", "num_attention_heads": 8, "num_hidden_layers": 18,
       "num_key_value_heads": 1, "pad_token_id": 0, "rms_norm_eps": 1e-06, "rope_scaling": null,
       "rope_theta": 10000.0, "torch_dtype": "bfloat16", "transformers_version": "4.38.0.dev0",
       "use_cache": true, "vocab_size": 256000})"},
      // 42 (2 * 3584 * 4096 + 2 * 3584 * 2048 + 3 * 3584 * 14336 + 4 * 3584) + 256000 * 3584 + 3584
      {"gemma-2-9b", 9241705984,
       R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false,
       "attention_dropout": 0.0, "attn_logit_softcapping": 50.0, "bos_token_id": 2,
       "cache_implementation": "hybrid", "eos_token_id": 1, "final_logit_softcapping": 30.0,
       "head_dim": 256, "hidden_act": "gelu_pytorch_tanh",
       "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 3584, "initializer_range": 0.02,
       "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "gemma2",
       "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8,
       "pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
       "rope_theta": 10000.0, "sliding_window": 4096, "sliding_window_size": 4096,
       "torch_dtype": "float32", "transformers_version": "4.42.0.dev0", "use_cache": true,
       "vocab_size": 256000})"},
      // 26 (2 * 1152 * 1024 + 2 * 1152 * 256 + 3 * 1152 * 6912 + 4 * 1152 + 2 * 256)
      // + 262144 * 1152 + 1152
      {"gemma-3-1b", 999885952,
       R"({"architectures": ["Gemma3ForCausalLM"], "attention_bias": false,
       "attention_dropout": 0.0, "attn_logit_softcapping": null, "bos_token_id": 2,
       "cache_implementation": "hybrid", "eos_token_id": 1, "final_logit_softcapping": null,
       "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 1152,
       "initializer_range": 0.02, "intermediate_size": 6912, "max_position_embeddings": 32768,
       "model_type": "gemma3_text", "num_attention_heads": 4, "num_hidden_layers": 26,
       "num_key_value_heads": 1, "pad_token_id": 0, "query_pre_attn_scalar": 256,
       "rms_norm_eps": 1e-06, "rope_local_base_freq": 10000, "rope_scaling": null,
       "rope_theta": 1000000, "sliding_window": 512, "sliding_window_pattern": 6,
       "torch_dtype": "bfloat16", "transformers_version": "4.50.0.dev0", "use_cache": true,
       "vocab_size": 262144})"},
      // 32 (4 * 3072^2 + 3 * 3072 * 8192 + 2 * 3072) + 2 * 32064 * 3072 + 3072
      {"Phi-3-mini-4k-instruct", 3821079552,
       R"({"_name_or_path": "Phi-3-mini-4k-instruct", "architectures": ["Phi3ForCausalLM"],
       "attention_dropout": 0.0, "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"},
       "bos_token_id": 1, "embd_pdrop": 0.0, "eos_token_id": 32000, "hidden_act": "silu",
       "hidden_size": 3072, "initializer_range": 0.02, "intermediate_size": 8192,
       "max_position_embeddings": 4096, "model_type": "phi3", "num_attention_heads": 32,
       "num_hidden_layers": 32, "num_key_value_heads": 32,
       "original_max_position_embeddings": 4096, "pad_token_id": 32000, "resid_pdrop": 0.0,
       "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 10000.0, "sliding_window": 2047,
       "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.40.2",
       "use_cache": true, "attention_bias": false, "vocab_size": 32064})"},
      // 32 (4 (4096^2 + 4096) + 2 * 4096 * 16384 + 16384 + 4096 + 4 * 4096) + 2 * 50432 * 4096
      // + 2 * 4096
      {"pythia-6.9b", 6857302016,
       R"({"architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0,
       "hidden_act": "gelu", "hidden_size": 4096, "initializer_range": 0.02,
       "intermediate_size": 16384, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
       "model_type": "gpt_neox", "num_attention_heads": 32, "num_hidden_layers": 32,
       "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false,
       "torch_dtype": "float16", "transformers_version": "4.24.0", "use_cache": true,
       "use_parallel_residual": true, "vocab_size": 50432})"},
      // 16 (2 * 2048^2 + 2 * 2048 * 512 + 3 * 2048 * 8192 + 2 * 2048) + 128256 * 2048 + 2048
      {"Llama-3.2-1B", 1235814400,
       R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
       "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 64,
       "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
       "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
       "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
       "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
       "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
       "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
       "tie_word_embeddings": true, "torch_dtype": "bfloat16",
       "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 128256})"},
      // as BERT-base, with 50265 tokens, 514 positions and one type
      {"roberta-base", 124645632,
       R"({"architectures": ["RobertaForMaskedLM"], "attention_probs_dropout_prob": 0.1,
       "bos_token_id": 0, "eos_token_id": 2, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
       "hidden_size": 768, "initializer_range": 0.02, "intermediate_size": 3072,
       "layer_norm_eps": 1e-05, "max_position_embeddings": 514, "model_type": "roberta",
       "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 1,
       "type_vocab_size": 1, "vocab_size": 50265})"},
  };
  return kPublished;
}

const char* text_of(const std::string& name) {
  for (const Published& model : published()) {
    if (name == model.name) return model.text;
  }
  return "";
}

TEST(ModelConfig, HasAsManyParametersAsPublished) {
  for (const Published& model : published()) {
    EXPECT_EQ(parameters(read(model.text, kOneLayer)), model.parameters) << model.name;
  }
}

// The table in traces/configs/README.md, which has every file of the folder.
TEST(ModelConfig, HasAsManyParametersAsTheShippedFilesSay) {
  const std::map<std::string, std::uint64_t> expected = {{"llama-3.1-8b.json", 8030261248},
                                                         {"llama-3.1-70b.json", 70553706496},
                                                         {"mixtral-8x7b.json", 46702792704},
                                                         {"phi-mini-moe.json", 7647632704},
                                                         {"qwen3-32b.json", 32762123264},
                                                         {"qwen3-30b-a3b.json", 30532122624},
                                                         {"gpt2.json", 124451328},
                                                         {"gpt2-medium.json", 354838528},
                                                         {"bert-tiny_training.json", 4370304},
                                                         {"gpt3-xl_mesh.json", 1315723264},
                                                         {"llama3-8b_onnxim.json", 8030261248},
                                                         {"opt-125m_layer_onnxim.json", 47272704},
                                                         {"opt-66b_onnxim.json", 65719701504}};
  const std::string readme = shipped("README.md");
  for (const auto& [name, count] : expected) {
    EXPECT_EQ(parameters(read(shipped(name), kOneLayer)), count) << name;
    std::string digits = std::to_string(count);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    EXPECT_THAT(readme, HasSubstr(fmt::format("| `{}` | {} |", name, digits)));
  }
}

// Of eight experts a token takes two: 6 * 3 * 4096 * 14336 of each of 32 layers rest.
TEST(ModelConfig, SaysHowManyParametersATokenMeets) {
  EXPECT_THAT(read(shipped("mixtral-8x7b.json")).notes.back(),
              HasSubstr("12879925248 met by a token; 8 experts, 2 of a token"));
}

TEST(ModelConfig, RefusesModelsThatNoRowStandsFor) {
  const auto refuses = [](const std::string& text, const std::string& what) {
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<TraceError>(HasSubstr(what)));
  };
  const std::string mixtral = shipped("mixtral-8x7b.json");
  const auto typed = [&](const char* type) {
    return with(mixtral, "model_type", fmt::format("\"{}\"", type));
  };
  refuses(typed("deepseek_v3"), "found 'deepseek_v3 (latent attention)'");
  refuses(typed("deepseek_v32"), "latent attention");
  refuses(typed("qwen3_next"), "linear attention");
  refuses(typed("mamba2"), "state-space mixers");
  refuses(typed("jamba"), "state-space mixers");
  refuses(typed("gpt_oss"), "attention sinks");
  refuses(typed("llama4_text"), "attention in chunks");
  // a type nobody heard of: what was not understood, and what is
  refuses(with(typed("novel"), "spin", "3"), "keys of this one that were not understood: ");
  refuses(with(typed("novel"), "spin", "3"), "spin");
  refuses(typed("novel"), "allowed: model_type bert, roberta, gpt2");
  // whatever it is called
  refuses(with(mixtral, "kv_lora_rank", "512"),
          "key 'kv_lora_rank': error E214: found '512 (latent");
  refuses(with(typed("novel"), "ssm_cfg", "{\"a\": 1}"), "state-space mixers");
  refuses(with(text_of("Qwen3-4B"), "linear_num_value_heads", "32"), "linear attention");
  // names that contain those of others
  refuses(R"({"model_type": "distilbert", "hidden_size": 64})", "distilbert");
  refuses(R"({"architectures": ["DebertaV2ForMaskedLM"]})", "DebertaV2ForMaskedLM");
  refuses(with(mixtral, "architectures", R"(["LlamaForCausalLM"])"), "MixtralForCausalLM");
  refuses(with(mixtral, "architectures", R"(["MixtralForSequenceClassification"])"),
          "MixtralForCausalLM, as model_type mixtral has it");
  refuses(R"({"hidden_size": 64})", "no model_type");
}

TEST(ModelConfig, UsesEveryKeyOrRefusesItByName) {
  const std::string qwen = text_of("Qwen3-4B");
  const std::string llama = shipped("llama-3.1-8b.json");
  const auto refuses = [](const std::string& text, const std::string& what) {
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<TraceError>(HasSubstr(what)));
  };
  refuses(with(llama, "residual_multiplier", "0.22"), "found 'residual_multiplier'");
  refuses(with(llama, "sliding_window", "4096"), "found 'sliding_window'");
  refuses(with(llama, "num_local_experts", "8"), "found 'num_local_experts'");
  refuses(with(llama, "hidden_act", "\"relu2\""), "key 'hidden_act'");
  refuses(with(llama, "torch_dtype", "\"float8_e4m3fn\""), "float16, bfloat16, float32");
  refuses(with(llama, "dtype", "\"float16\""),
          "key 'dtype': error E214: found 'float16 (another key says bf16)'");
  refuses(with(llama, "quantization_config", R"({"quant_method": "awq", "bits": 4})"),
          "--skip quantization_config takes them as if they were not quantised");
  refuses(with(llama, "is_encoder_decoder", "true"), "key 'is_encoder_decoder'");
  refuses(with(llama, "num_hidden_layers", "3.5"), "key 'num_hidden_layers'");
  refuses(with(llama, "head_dim", "\"wide\""), "key 'head_dim'");
  refuses(with(qwen, "head_dim", "null"), "no width of a head");
  refuses(with(qwen, "layer_types", R"(["full_attention"])"), "a word for each of the 36 layers");
  refuses(with(text_of("Mistral-7B-v0.1"), "num_key_value_heads", "null"),
          "no key and value heads");
  refuses(with(shipped("opt-66b_onnxim.json"), "tensor_parallel_size", "4"),
          "key 'tensor_parallel_size'");
  // null is what is not there, and what changes nothing may say what it likes
  EXPECT_EQ(parameters(read(with(llama, "sliding_window", "null"))), 8030261248U);
  EXPECT_EQ(parameters(read(with(llama, "rope_theta", "7"))), 8030261248U);
}

TEST(ModelConfig, LeavesOutKeysThatTheUserNames) {
  const std::string text = with(with(shipped("llama-3.1-8b.json"), "muon_scale", "0.2"),
                                "quantization_config", R"({"bits": 4})");
  Pairs settings = kOneToken;
  settings.emplace_back("skip", "muon_scale,quantization_config");
  EXPECT_THAT(read(text, settings).notes, Contains("left out: muon_scale,quantization_config"));
  settings.back().second = "muon";
  EXPECT_THAT([&] { read(text, settings); },
              ThrowsMessage<RequestError>(HasSubstr("model.json has no such key")));
}

TEST(ModelConfig, TakesTheTypeOfNumbersFromTheFile) {
  const std::string llama = shipped("llama-3.1-8b.json");
  const Imported as_it_is = read(llama);
  EXPECT_EQ(as_it_is.trace.ops[0].dtype, DType::bf16);
  EXPECT_THAT(as_it_is.warnings, ElementsAre(HasSubstr("--dtype fp16 has as many bytes")));
  EXPECT_EQ(read(with(llama, "torch_dtype", "\"float32\"")).trace.ops[0].dtype, DType::fp32);
  EXPECT_EQ(read(text_of("pythia-6.9b")).trace.ops[0].dtype, DType::fp16);
  Pairs settings = kOneToken;
  settings.emplace_back("dtype", "fp16");
  const Imported asked = read(llama, settings);
  EXPECT_EQ(asked.trace.ops[0].dtype, DType::fp16);
  EXPECT_THAT(asked.warnings, IsEmpty());
  EXPECT_THAT(asked.notes, Contains("operands of fp16 as asked for; the file says bf16"));
}

// 32 heads of 128 are 4096 features, more than the width of 2560; all 32 heads of 5 tokens are
// normalised for themselves.
TEST(ModelConfig, HeadsMayBeWiderThanTheModel) {
  const auto rows = rows_of(read(text_of("Qwen3-4B"), {{"tokens", "5"}, {"layers", "1"}}));
  EXPECT_THAT(sizes(rows.at("fwd.l0.q")), ElementsAre(4096, 2560, 5, 1));
  EXPECT_THAT(sizes(rows.at("fwd.l0.k")), ElementsAre(1024, 2560, 5, 1));
  EXPECT_THAT(sizes(rows.at("fwd.l0.o")), ElementsAre(2560, 4096, 5, 1));
  EXPECT_EQ(rows.at("fwd.l0.q_norm").op, "rmsnorm");
  EXPECT_THAT(sizes(rows.at("fwd.l0.q_norm")), ElementsAre(128, 0, 5 * 32, 1));
  EXPECT_THAT(sizes(rows.at("fwd.l0.k_norm")), ElementsAre(128, 0, 5 * 8, 1));
  EXPECT_THAT(rows.at("fwd.l0.q_rope").depends_on, ElementsAre("fwd.l0.q_norm"));
  EXPECT_THAT(sizes(rows.at("fwd.l0.scores")), ElementsAre(5 * 4, 128, 5, 8));
}

// Each of 4 tokens sees itself and two before: a window of 3. One that has 9 in its cache, three.
TEST(ModelConfig, WindowsCutScoresAndCaches) {
  const std::string text = with(text_of("Mistral-7B-v0.1"), "sliding_window", "3");
  const Pairs prefill = {{"tokens", "4"}, {"layers", "1"}};
  const LayerOp scores = rows_of(read(text, prefill)).at("fwd.l0.scores");
  EXPECT_EQ(scores.op, "sddmm");
  EXPECT_EQ(scores.pattern.name, "window");
  EXPECT_EQ(*find_value(scores.pattern.args, "w"), "2");
  EXPECT_EQ(*find_value(scores.pattern.args, "causal"), "1");
  EXPECT_THAT(sizes(scores), ElementsAre(4, 128, 4, 32));
  const Pairs short_prefill = {{"tokens", "3"}, {"layers", "1"}};
  EXPECT_EQ(rows_of(read(text, short_prefill)).at("fwd.l0.scores").op, "bmm");
  const Pairs all = {{"tokens", "4"}, {"layers", "1"}, {"attention", "full"}};
  EXPECT_EQ(rows_of(read(text, all)).at("fwd.l0.scores").op, "bmm");
  const Pairs decode = {{"part", "decode"}, {"context", "9"}, {"layers", "1"}};
  EXPECT_THAT(sizes(rows_of(read(text, decode)).at("fwd.l0.scores")), ElementsAre(4, 128, 3, 8));
}

std::vector<std::uint32_t> keys_of_layers(const std::string& text, std::uint32_t layers) {
  const auto rows = rows_of(
      read(text, {{"part", "decode"}, {"context", "8000"}, {"layers", std::to_string(layers)}}));
  std::vector<std::uint32_t> keys;
  for (std::uint32_t l = 0; l < layers; ++l) {
    keys.push_back(rows.at(fmt::format("fwd.l{}.scores", l)).n);
  }
  return keys;
}

TEST(ModelConfig, WindowsStandInTheLayersThatHaveThem) {
  EXPECT_THAT(keys_of_layers(text_of("gemma-2-9b"), 4), ElementsAre(4096, 8000, 4096, 8000));
  EXPECT_THAT(keys_of_layers(text_of("gemma-3-1b"), 7),
              ElementsAre(512, 512, 512, 512, 512, 8000, 512));
  std::string qwen = with(text_of("Qwen2-7B"), "sliding_window", "1000");
  EXPECT_THAT(keys_of_layers(qwen, 3), ElementsAre(8000, 8000, 8000));
  qwen = with(with(qwen, "use_sliding_window", "true"), "max_window_layers", "2");
  EXPECT_THAT(keys_of_layers(qwen, 3), ElementsAre(8000, 8000, 1000));
  qwen = with(with(qwen, "num_hidden_layers", "3"), "layer_types",
              R"(["sliding_attention", "full_attention", "sliding_attention"])");
  EXPECT_THAT(keys_of_layers(qwen, 3), ElementsAre(1000, 8000, 1000));
}

TEST(ModelConfig, HasTheRowsOfItsArchitecture) {
  const Pairs all = {{"tokens", "2"}, {"layers", "1"}, {"embedding", "1"}, {"heads", "1"}};
  const auto gemma = rows_of(read(text_of("gemma-2-9b"), all));
  EXPECT_EQ(gemma.at("fwd.embed.scale").fn, "scale");
  EXPECT_EQ(gemma.at("fwd.l0.cap").fn, "tanh");
  EXPECT_EQ(gemma.at("fwd.l0.o_post_ln").op, "rmsnorm");
  EXPECT_EQ(gemma.at("fwd.l0.f_post_ln").op, "rmsnorm");
  EXPECT_EQ(gemma.at("fwd.l0.gate_act").fn, "gelu");
  EXPECT_EQ(gemma.at("fwd.l0.act").fn, "mul");
  EXPECT_EQ(gemma.at("fwd.head.cap").fn, "tanh");
  const auto qwen = rows_of(read(text_of("Qwen2-7B"), all));
  EXPECT_EQ(qwen.at("fwd.l0.q_bias").m, 3584U);
  EXPECT_EQ(qwen.at("fwd.l0.o_add").fn, "add");
  EXPECT_EQ(qwen.count("fwd.embed.scale"), 0U);
  // both blocks read the input of the layer; 32 features of each head of 128 are rotated
  const auto pythia = rows_of(read(text_of("pythia-6.9b"), all));
  EXPECT_EQ(pythia.at("fwd.l0.ln1").depends_on, pythia.at("fwd.l0.ln2").depends_on);
  EXPECT_EQ(pythia.at("fwd.l0.q_rope").m, 32U * 32);
  EXPECT_THAT(pythia.at("fwd.l0.scores").depends_on,
              ElementsAre("fwd.l0.q_rope", "fwd.l0.k_rope", "fwd.l0.q_bias", "fwd.l0.k_bias"));
  EXPECT_EQ(pythia.at("fwd.l0.act").fn, "bias_gelu");
  EXPECT_EQ(pythia.count("fwd.embed.positions"), 0U);
  const auto phi = rows_of(read(shipped("phi-mini-moe.json"), all));
  EXPECT_EQ(phi.at("fwd.l0.ln1").op, "layernorm");
  EXPECT_EQ(phi.at("fwd.l0.o_add").fn, "bias_add");
  EXPECT_EQ(phi.at("fwd.l0.f_add").fn, "add");
  EXPECT_EQ(phi.at("fwd.head.bias").m, 32064U);
  EXPECT_THAT(phi.at("fwd.l0.route1").depends_on, ElementsAre("fwd.l0.choose0"));
}

std::uint64_t updated(const Imported& imported) {
  std::uint64_t sum = 0;
  for (const LayerOp& op : imported.trace.ops) {
    if (op.op == "optim") sum += std::uint64_t{op.m} * op.k * op.batch;
  }
  return sum;
}

// What training updates is what was counted: two counts that share no line.
TEST(ModelConfig, TrainingUpdatesEveryParameterOnce) {
  const Pairs training = {
      {"part", "training"}, {"tokens", "2"}, {"embedding", "1"}, {"heads", "1"}};
  for (const Published& model : published()) {
    const std::string name = model.name;
    // a head of its own; experts
    if (name == "roberta-base" || name == "Qwen1.5-MoE-A2.7B") continue;
    EXPECT_EQ(updated(read(model.text, training)), model.parameters) << model.name;
  }
}

TEST(ModelConfig, DropsOnlyWhatTheFileDrops) {
  const Pairs training = {{"part", "training"}, {"tokens", "2"}, {"layers", "1"}};
  const auto none = rows_of(read(shipped("llama-3.1-8b.json"), training));
  EXPECT_EQ(none.count("fwd.l0.attn_drop") + none.count("fwd.l0.o_drop"), 0U);
  const auto gpt2 = rows_of(read(shipped("gpt2.json"), training));
  EXPECT_EQ(gpt2.count("fwd.l0.attn_drop") + gpt2.count("fwd.l0.o_drop"), 2U);
  const auto part = rows_of(read(with(shipped("gpt2.json"), "attn_pdrop", "0"), training));
  EXPECT_EQ(part.count("fwd.l0.attn_drop"), 0U);
  EXPECT_EQ(part.count("fwd.l0.o_drop"), 1U);
}

TEST(ModelConfig, ReadsTheLanguageModelOfSeveralParts) {
  std::string inner = with(text_of("gemma-3-1b"), "architectures", "null");
  inner = with(inner, "torch_dtype", "null");
  const std::string outer =
      R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
      "torch_dtype": "float16", "vision_config": {"width": 1152}, "text_config": )" +
      inner + '}';
  const Imported imported = read(outer);
  EXPECT_EQ(parameters(imported), 999885952U);
  EXPECT_EQ(imported.trace.ops[0].dtype, DType::fp16);
  EXPECT_THAT(imported.warnings, ElementsAre(HasSubstr("the language model alone")));
}

// One token and two of eight experts; nothing is moved to where they are.
TEST(ModelConfig, OneTokenMeetsItsExpertsAlone) {
  const auto rows =
      rows_of(read(shipped("mixtral-8x7b.json"),
                   {{"part", "decode"}, {"context", "64"}, {"layers", "1"}, {"dtype", "fp16"}}));
  EXPECT_THAT(sizes(rows.at("fwd.l0.router")), ElementsAre(8, 4096, 1, 1));
  EXPECT_THAT(sizes(rows.at("fwd.l0.route")), ElementsAre(1, 0, 8, 1));
  EXPECT_EQ(rows.at("fwd.l0.choose").op, "take_max");
  EXPECT_EQ(rows.at("fwd.l0.choose").repeat, 2U);  // one after the other
  std::size_t experts = 0;
  for (const auto& [id, op] : rows) {
    if (op.op == "gemm" && id.find(".ffn2") != std::string::npos) {
      ++experts;
      EXPECT_THAT(sizes(op), ElementsAre(4096, 14336, 1, 1)) << id;
    }
  }
  EXPECT_EQ(experts, 2U);
  EXPECT_EQ(rows.count("fwd.l0.dispatch"), 0U);
  EXPECT_EQ(rows.at("fwd.l0.combine1").fn, "add");
  EXPECT_EQ(rows.at("fwd.l0.f_add").depends_on.front(), "fwd.l0.combine1");
}

// 64 tokens take 8 of 128 experts each: 512 columns of products of 768 x 2048 in all, whoever has
// them. 2 * 64 * 8 * 3 * 2048 * 768 FLOP, as the dense equivalent.
TEST(ModelConfig, EveryExpertMultipliesItsTokens) {
  for (const char* routing : {"uniform", "zipf:1.2"}) {
    const Imported imported = read(shipped("qwen3-30b-a3b.json"),
                                   {{"tokens", "64"}, {"layers", "1"}, {"routing", routing}});
    const auto rows = rows_of(imported);
    for (unsigned choice = 0; choice < 8; ++choice) {
      for (const char* id : {"fwd.l0.dispatch", "fwd.l0.combine"}) {
        const LayerOp& row = rows.at(id + std::to_string(choice));
        EXPECT_THAT(sizes(row), ElementsAre(2048, 64, 64, 1));
        EXPECT_EQ(row.repeat, 1U);
      }
    }
    // of all choices together every expert looks up as many tokens as its products have columns
    std::vector<std::uint32_t> copies;
    for (unsigned choice = 0; choice < 8; ++choice) {
      for (const std::uint32_t token :
           look_ups(rows.at("fwd.l0.dispatch" + std::to_string(choice)), 7)) {
        copies.push_back(token);
      }
    }
    auto next = copies.begin();
    for (unsigned expert = 0; expert < 128; ++expert) {
      const auto gate = rows.find("fwd.l0.e" + std::to_string(expert) + ".gate");
      if (gate == rows.end()) continue;
      const auto end = next + gate->second.n;
      EXPECT_EQ(std::adjacent_find(next, end, std::greater_equal<>()), end) << expert;
      next = end;
    }
    EXPECT_EQ(next, copies.end());
    EXPECT_THAT(sizes(rows.at("fwd.l0.weigh")), ElementsAre(2048, 0, 512, 1));
    EXPECT_EQ(rows.at("fwd.l0.combine7").fn, "scatter_add");
    std::uint64_t tokens = 0;
    std::uint32_t most = 0;
    for (const auto& [id, op] : rows) {
      if (op.op != "gemm" || id.find(".gate") == std::string::npos) continue;
      EXPECT_EQ(op.m, 768U);
      EXPECT_EQ(op.k, 2048U);
      tokens += op.n;
      most = std::max(most, op.n);
    }
    EXPECT_EQ(tokens, 512U) << routing;
    EXPECT_LE(most, 64U);
    // rank one of 1.2 is drawn by more than a quarter of the first choices alone
    EXPECT_EQ(most > 32, std::string(routing) != "uniform") << most;
  }
}

TEST(ModelConfig, RefusesToTrainExpertsAndToRouteWithoutThem) {
  EXPECT_THAT(
      [] {
        read(shipped("mixtral-8x7b.json"), {{"part", "training"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("training of experts")));
  Pairs settings = kOneToken;
  settings.emplace_back("routing", "uniform");
  EXPECT_THAT([&] { read(shipped("llama-3.1-8b.json"), settings); },
              ThrowsMessage<RequestError>(HasSubstr("the model has no experts")));
}

// Layers 1 and 3 have experts, but 3 is listed as dense.
TEST(ModelConfig, DenseLayersStandBetweenExperts) {
  std::string text = with(shipped("qwen3-30b-a3b.json"), "decoder_sparse_step", "2");
  text = with(text, "mlp_only_layers", "[3]");
  const auto rows = rows_of(
      read(text, {{"part", "decode"}, {"context", "1"}, {"layers", "4"}, {"dtype", "fp16"}}));
  for (const char* layer : {"l0", "l2", "l3"}) {
    EXPECT_THAT(sizes(rows.at(fmt::format("fwd.{}.ffn2", layer))), ElementsAre(2048, 6144, 1, 1));
  }
  EXPECT_EQ(rows.count("fwd.l1.ffn2"), 0U);
  EXPECT_EQ(rows.count("fwd.l1.router"), 1U);
}

TEST(ModelConfig, EveryTokenTakesTheSharedExpert) {
  const Imported imported = read(text_of("Qwen1.5-MoE-A2.7B"), {{"tokens", "4"}, {"layers", "1"}});
  const auto rows = rows_of(imported);
  EXPECT_THAT(sizes(rows.at("fwd.l0.shared.gate")), ElementsAre(5632, 2048, 4, 1));
  EXPECT_THAT(sizes(rows.at("fwd.l0.shared.router")), ElementsAre(1, 2048, 4, 1));
  EXPECT_THAT(rows.at("fwd.l0.shared.add").depends_on,
              ElementsAre("fwd.l0.combine3", "fwd.l0.shared.weigh"));
}

TEST(ModelConfig, TheShapeByItself) {
  const std::string text = R"({
    "model_type": "qwen3", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 1000,
    "hidden_act": "silu", "rms_norm_eps": 1e-6, "torch_dtype": "bfloat16",
    "max_position_embeddings": 4096})";
  const ModelFile file = read_model_file(text, "model.json");
  EXPECT_EQ(file.type, "qwen3");
  EXPECT_EQ(file.numbers, "bf16");
  EXPECT_FALSE(file.other_parts);
  EXPECT_EQ(file.shape.name, "");
  EXPECT_EQ(file.shape.width, 128U);
  EXPECT_EQ(file.shape.query_width(), 4U * 64);
  EXPECT_EQ(file.shape.kv_width(), 2U * 64);
  EXPECT_EQ(file.shape.qk_norm, QkNorm::head);
  EXPECT_THAT([&] { read_model_file(with(text, "hidden_sise", "3"), "model.json"); },
              ThrowsMessage<TraceError>(HasSubstr("hidden_sise")));
}

}  // namespace
}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/import/model_types.hpp"
#include "workloads/trace/problem.hpp"

namespace lacuna {
namespace {

/// Types of which no row can stand for what they compute.
struct RefusedType {
  const char* name;
  const char* reason;
};

constexpr const char* kLatent = "latent attention";
constexpr const char* kLinear = "linear attention";
constexpr const char* kState = "state-space mixers";
constexpr const char* kSinks = "attention sinks";

constexpr std::array<RefusedType, 38> kRefused = {{
    {"deepseek_v2", kLatent},
    {"deepseek_v3", kLatent},
    {"deepseek_v32", kLatent},
    {"kimi_k2", kLatent},
    {"longcat_flash", kLatent},
    {"minicpm3", kLatent},
    {"glm_moe_dsa", kLatent},
    {"qwen3_next", kLinear},
    {"qwen3_5", kLinear},
    {"qwen3_5_moe", kLinear},
    {"kimi_linear", kLinear},
    {"minimax", kLinear},
    {"minimax_text_01", kLinear},
    {"rwkv", "linear attention with states"},
    {"rwkv6", "linear attention with states"},
    {"rwkv7", "linear attention with states"},
    {"mamba", kState},
    {"mamba2", kState},
    {"falcon_mamba", kState},
    {"falcon_h1", kState},
    {"jamba", kState},
    {"bamba", kState},
    {"zamba", kState},
    {"zamba2", kState},
    {"nemotron_h", kState},
    {"granitemoehybrid", kState},
    {"lfm2", "short convolutions"},
    {"recurrent_gemma", "recurrent mixers"},
    {"xlstm", "recurrent mixers"},
    {"gpt_oss", "attention sinks and clamped units"},
    {"llama4", "attention in chunks"},
    {"llama4_text", "attention in chunks"},
    {"gpt_neo", "local attention beside global attention, without scale"},
    {"t5", "an encoder and a decoder with relative positions"},
    {"bart", "an encoder and a decoder"},
    {"albert", "layers that share weights"},
    {"deberta", "disentangled attention"},
    {"bloom", "positions as a slope of scores"},
}};

/// Keys that only such models have, whatever their type is called.
constexpr std::array<RefusedType, 19> kMarkers = {{
    {"add_swa_attention_sink_bias", kSinks},
    {"add_full_attention_sink_bias", kSinks},
    {"kv_lora_rank", kLatent},
    {"q_lora_rank", kLatent},
    {"index_topk", "sparse attention by an index"},
    {"linear_num_value_heads", kLinear},
    {"linear_num_key_heads", kLinear},
    {"linear_attn_config", kLinear},
    {"attn_type_list", kLinear},
    {"ssm_cfg", kState},
    {"state_size", kState},
    {"ssm_state_size", kState},
    {"mamba_d_state", kState},
    {"mamba_num_heads", kState},
    {"hybrid_override_pattern", kState},
    {"layers_block_type", "mixers of several kinds"},
    {"block_types", "mixers of several kinds"},
    {"attention_chunk_size", "attention in chunks"},
    {"swiglu_limit", "clamped units"},
}};

std::string known_types() {
  std::string names;
  for (const ModelType& type : model_types()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", type.name);
  }
  return "model_type " + names;
}

const ModelType* find_type(const std::string& name) {
  for (const ModelType& type : model_types()) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

/// The type whose class is `name`, such as "LlamaForCausalLM" or "GPT2LMHeadModel".
const ModelType* find_class(const std::string& name) {
  for (const ModelType& type : model_types()) {
    const std::string prefix = type.prefix;
    if (prefix.empty() || name.rfind(prefix, 0) != 0) continue;
    const std::string rest = name.substr(prefix.size());
    const bool encoder = prefix == "Bert" || prefix == "Roberta";
    for (const char* end : {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration"}) {
      if (rest == end) return &type;
    }
    for (const char* end : {"Model", "ForPreTraining", "ForMaskedLM"}) {
      if (encoder && rest == end) return &type;
    }
  }
  return nullptr;
}

/// True unless the configuration says that no layer has linear attention.
bool has_linear_layers(ModelConfig& config) {
  constexpr std::uint64_t kMostKinds = 16;
  const std::vector<std::string> types = config.words("layer_types");
  const std::vector<std::uint32_t> kinds = config.integers("attn_type_list", kMostKinds);
  const bool no_type = std::find(types.begin(), types.end(), "linear_attention") == types.end();
  const bool no_kind = std::find(kinds.begin(), kinds.end(), 0U) == kinds.end();
  if (types.empty() && kinds.empty()) return true;
  return !(types.empty() || no_type) || !(kinds.empty() || no_kind);
}

void refuse_markers(ModelConfig& config) {
  for (const RefusedType& marker : kMarkers) {
    if (!config.has(marker.name)) continue;
    // looked at only here: what is read counts as understood
    if (marker.reason == kLinear && !has_linear_layers(config)) continue;
    if (marker.reason == kSinks && !config.flag(marker.name, false)) continue;
    config.refuse(marker.name, marker.reason,
                  "models without it: full attention or sliding windows");
  }
}

/// `key` says `name`, which is no type that is read.
[[noreturn]] void refuse_type(ModelConfig& config, const char* key, const std::string& name) {
  for (const RefusedType& refused : kRefused) {
    if (name != refused.name || (refused.reason == kLinear && !has_linear_layers(config))) continue;
    config.refuse(key, refused.reason, known_types());
  }
  refuse_markers(config);
  // what every model has is no help
  config.read({"hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
               "intermediate_size", "vocab_size", "max_position_embeddings", "hidden_act",
               "attention_dropout", "tie_word_embeddings", "torch_dtype", "dtype"});
  const std::vector<std::string> keys = config.unread();
  config.refuse(key, "not known",
                fmt::format("{}{}{}", known_types(),
                            keys.empty() ? "" : "; keys of this one that were not understood: ",
                            fmt::join(keys, ", ")));
}

const ModelType* type_of_tool(ModelConfig& config) {
  if (config.has("ffn_type")) {
    const bool llama = config.text({"ffn_type"}) == "llama";
    return find_type(llama ? "onnxim-llama" : "onnxim");
  }
  if (config.has("n_vocab") && config.has("attention_types")) return find_type("mesh-gpt");
  if (config.has("type_vocab_size")) return find_type("bert");
  return nullptr;
}

}  // namespace

const ModelType& find_model_type(ModelConfig& config) {
  const std::string name = config.text({"model_type"});
  const std::vector<std::string> classes = config.words("architectures");
  const ModelType* of_class = classes.empty() ? nullptr : find_class(classes.front());
  const ModelType* type = nullptr;
  if (!name.empty()) {
    type = find_type(name);
    if (type == nullptr) refuse_type(config, "model_type", name);
  }
  refuse_markers(config);
  if (!classes.empty() && (of_class == nullptr || (type != nullptr && type != of_class))) {
    config.refuse("architectures", classes.front(),
                  type == nullptr ? known_types()
                                  : fmt::format("{}ForCausalLM, as model_type {} has it",
                                                type->prefix, type->name));
  }
  if (type == nullptr) type = of_class;
  if (type == nullptr) type = type_of_tool(config);
  if (type != nullptr) return *type;
  throw_problem({config.path(), "E101", "", "no model_type", known_types(), ""});
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "sim/base/contains.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/import/model_types.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

/// Why no row can stand for what some models compute, and words that tell them, with a space
/// between.
struct Refused {
  const char* reason;
  const char* words;
};

constexpr const char* kLatent = "latent attention";
constexpr const char* kLinear = "linear attention";
constexpr const char* kState = "state-space mixers";
constexpr const char* kSinks = "attention sinks";

/// By their types.
constexpr std::array<Refused, 14> kRefused = {{
    {kLatent, "deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 longcat_flash minicpm3 glm_moe_dsa"},
    {kLinear, "qwen3_next qwen3_5 qwen3_5_moe kimi_linear minimax minimax_text_01"},
    {"linear attention with states", "rwkv rwkv6 rwkv7"},
    {kState,
     "mamba mamba2 falcon_mamba falcon_h1 jamba bamba zamba zamba2 nemotron_h granitemoehybrid"},
    {"short convolutions", "lfm2"},
    {"recurrent mixers", "recurrent_gemma xlstm"},
    {"attention sinks and clamped units", "gpt_oss"},
    {"attention in chunks", "llama4 llama4_text"},
    {"local attention beside global attention, without scale", "gpt_neo"},
    {"an encoder and a decoder with relative positions", "t5"},
    {"an encoder and a decoder", "bart"},
    {"layers that share weights", "albert"},
    {"disentangled attention", "deberta"},
    {"positions as a slope of scores", "bloom"},
}};

/// By keys that only such models have, whatever their type is called.
constexpr std::array<Refused, 8> kMarkers = {{
    {kSinks, "add_swa_attention_sink_bias add_full_attention_sink_bias"},
    {kLatent, "kv_lora_rank q_lora_rank"},
    {"sparse attention by an index", "index_topk"},
    {kLinear, "linear_num_value_heads linear_num_key_heads linear_attn_config attn_type_list"},
    {kState,
     "ssm_cfg state_size ssm_state_size mamba_d_state mamba_num_heads hybrid_override_pattern"},
    {"mixers of several kinds", "layers_block_type block_types"},
    {"attention in chunks", "attention_chunk_size"},
    {"clamped units", "swiglu_limit"},
}};

std::string known_types() {
  return fmt::format("model_type {}", fmt::join(names_in(model_types()), ", "));
}

const ModelType* find_type(const std::string& name) { return find_named(model_types(), name); }

/// The type whose class is `name`, such as "LlamaForCausalLM" or "GPT2LMHeadModel".
const ModelType* find_class(const std::string& name) {
  for (const ModelType& type : model_types()) {
    const std::string prefix = type.prefix;
    if (prefix.empty() || !starts_with(name, prefix)) continue;
    const std::string rest = name.substr(prefix.size());
    const bool encoder = prefix == "Bert" || prefix == "Roberta";
    constexpr std::array of_decoders = {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration"};
    constexpr std::array of_encoders = {"Model", "ForPreTraining", "ForMaskedLM"};
    if (contains(of_decoders, rest) || (encoder && contains(of_encoders, rest))) return &type;
  }
  return nullptr;
}

/// True unless the configuration says that no layer has linear attention.
bool has_linear_layers(ModelConfig& config) {
  constexpr std::uint64_t kMostKinds = 16;
  const std::vector<std::string> types = config.words("layer_types");
  const std::vector<std::uint32_t> kinds = config.integers("attn_type_list", kMostKinds);
  const bool says_nothing = types.empty() && kinds.empty();
  return says_nothing || contains(types, "linear_attention") || contains(kinds, 0U);
}

void refuse_markers(ModelConfig& config) {
  for (const Refused& refused : kMarkers) {
    for (const std::string& key : split(refused.words, ' ')) {
      if (!config.has(key.c_str())) continue;
      // looked at only here: what is read counts as understood
      if (refused.reason == kLinear && !has_linear_layers(config)) continue;
      if (refused.reason == kSinks && !config.flag(key.c_str(), false)) continue;
      config.refuse(key.c_str(), refused.reason,
                    "models without it: full attention or sliding windows");
    }
  }
}

/// `key` says `name`, which is no type that is read.
[[noreturn]] void refuse_type(ModelConfig& config, const char* key, const std::string& name) {
  for (const Refused& refused : kRefused) {
    if (!contains(split(refused.words, ' '), name)) continue;
    if (refused.reason == kLinear && !has_linear_layers(config)) continue;
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
  throw_diagnostic(config.path(), "E101", "no model_type", known_types());
}

}  // namespace lacuna

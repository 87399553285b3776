// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/model_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

std::uint32_t side(const ModelConfig& config, std::uint64_t value, const char* what) {
  if (value >= 1 && value <= kMostSide) return static_cast<std::uint32_t>(value);
  throw_diagnostic(config.path(), "E203", fmt::format("{} {}", what, value),
                   fmt::format("at most {}", kMostSide));
}

/// One of the functions that machines have. All forms of gelu are that with tanh.
std::string activation(ModelConfig& config, ModelConfig::Keys keys, const char* otherwise) {
  std::string name = config.text(keys);
  if (name.empty()) name = otherwise;
  for (const char* gelu : {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python"}) {
    if (name == gelu) return "gelu";
  }
  if (name == "silu" || name == "swish") return "silu";
  if (name == "relu") return name;
  for (const char* key : keys) {
    if (config.has(key)) config.refuse(key, "", "gelu and its forms, silu, swish, relu");
  }
  return name;
}

void check_heads(const ModelConfig& config, const ModelShape& shape, bool has_dimension) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    throw_diagnostic(config.path(), "E214", found, allowed);
  };
  if (!has_dimension && (shape.heads > shape.width || shape.width % shape.heads != 0)) {
    fail(fmt::format("{} heads of width {} without head_dim", shape.heads, shape.width),
         "heads that divide the width, or the key head_dim");
  }
  if (shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    fail(fmt::format("{} key and value heads", shape.kv_heads),
         fmt::format("a divisor of the {} heads", shape.heads));
  }
  const std::uint64_t q = std::uint64_t{shape.heads} * shape.head_width();
  side(config, q + 2 * std::uint64_t{shape.kv_heads} * shape.head_width(), "features of all heads");
}

/// Width, layers, heads, vocabulary and positions, under the names that tools give them.
void read_sizes(ModelConfig& config, ModelShape& shape) {
  shape.width = config.required("width", {"hidden_size", "n_embd", "d_model"});
  shape.layers = config.required("layers", {"num_hidden_layers", "n_layer", "num_layers"},
                                 ModelConfig::kMostLayers);
  shape.heads = config.required("heads", {"num_attention_heads", "n_head", "num_heads"});
  shape.kv_heads = config.integer({"num_key_value_heads", "num_kv_heads"}).value_or(shape.heads);
  shape.vocabulary = config.required("vocabulary", {"vocab_size", "n_vocab"});
  shape.positions = config.required(
      "positions", {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_length"});
}

bool drops(ModelConfig& config, const char* key, double otherwise) {
  return config.fraction({key}).value_or(otherwise) != 0;
}

// The three of BERT, GPT-2 and OPT.
void read_dropout(ModelConfig& config, ModelShape& shape, const char* embedding, const char* hidden,
                  const char* attention) {
  constexpr double kUsual = 0.1;
  shape.dropout.embedding = drops(config, embedding, kUsual);
  shape.dropout.hidden = drops(config, hidden, kUsual);
  shape.dropout.attention = drops(config, attention, kUsual);
}

/// BERT and GPT: four times the width unless the file says otherwise.
void read_plain_block(ModelConfig& config, ModelShape& shape, ModelConfig::Keys keys) {
  const std::uint64_t usual = 4 * std::uint64_t{shape.width};
  const std::optional<std::uint32_t> given = config.integer(keys);
  shape.ffn = given ? *given : side(config, usual, "inner width");
}

ModelShape read_bert(ModelConfig& config) {
  ModelShape shape = shape_of_family(ModelFamily::bert);
  read_sizes(config, shape);
  read_plain_block(config, shape, {"intermediate_size"});
  shape.activation = activation(config, {"hidden_act"}, "gelu");
  shape.types = config.count("type_vocab_size", 2);
  shape.tied = config.flag("tie_word_embeddings", true);
  read_dropout(config, shape, "hidden_dropout_prob", "hidden_dropout_prob",
               "attention_probs_dropout_prob");
  config.neutral({{"position_embedding_type", "\"absolute\""},
                  {"is_decoder", "false"},
                  {"add_cross_attention", "false"},
                  {"embedding_size", std::to_string(shape.width)},
                  {"num_key_value_heads", std::to_string(shape.heads)}});
  config.read({"pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
               "pooler_size_per_head", "pooler_type", "directionality"});
  check_heads(config, shape, false);
  return shape;
}

ModelShape read_gpt2(ModelConfig& config) {
  ModelShape shape = shape_of_family(ModelFamily::gpt);
  read_sizes(config, shape);
  read_plain_block(config, shape, {"n_inner"});
  shape.activation = activation(config, {"activation_function"}, "gelu_new");
  shape.tied = config.flag("tie_word_embeddings", true);
  read_dropout(config, shape, "embd_pdrop", "resid_pdrop", "attn_pdrop");
  config.neutral({{"scale_attn_weights", "true"},
                  {"scale_attn_by_inverse_layer_idx", "false"},
                  {"reorder_and_upcast_attn", "false"},
                  {"add_cross_attention", "false"}});
  check_heads(config, shape, false);
  return shape;
}

ModelShape read_opt(ModelConfig& config) {
  ModelShape shape = shape_of_family(ModelFamily::opt);
  read_sizes(config, shape);
  shape.ffn = config.required("inner width", {"ffn_dim", "intermediate_size"});
  shape.activation = activation(config, {"activation_function"}, "relu");
  shape.tied = config.flag("tie_word_embeddings", true);
  read_dropout(config, shape, "dropout", "dropout", "attention_dropout");
  shape.qkv_bias = shape.out_bias = shape.ffn_bias = config.flag("enable_bias", true);
  config.neutral({{"word_embed_proj_dim", std::to_string(shape.width)},
                  {"do_layer_norm_before", "true"},
                  {"layer_norm_elementwise_affine", "true"},
                  {"_remove_final_layer_norm", "false"},
                  {"activation_dropout", "0.0"}});
  config.read({"output_projection"});
  config.neutral({{"layerdrop", "0.0"}});
  check_heads(config, shape, false);
  return shape;
}

/// How much of a head is rotated.
void read_rotation(ModelConfig& config, ModelShape& shape, ModelConfig::Keys keys,
                   double otherwise) {
  const double direct = config.fraction(keys).value_or(otherwise);
  const double share =
      config.fraction_in({"rope_parameters", "rope_scaling"}, "partial_rotary_factor")
          .value_or(direct);
  shape.rotated = static_cast<std::uint32_t>(std::floor(share * shape.head_width()));
  if (shape.rotated % 2 == 0 && shape.rotated != 0) return;
  throw_diagnostic(config.path(), "E214", fmt::format("{} rotated features", shape.rotated),
                   "an even number of a head's features, at least two");
}

/// What models with rotated, gated, RMS-normalised layers have in common.
ModelShape read_rotary(ModelConfig& config) {
  ModelShape shape = shape_of_family(ModelFamily::llama);
  read_sizes(config, shape);
  shape.ffn = config.required("inner width", {"intermediate_size"});
  const std::optional<std::uint32_t> head = config.integer({"head_dim"});
  shape.head_dim = head.value_or(0);
  shape.tied = config.flag("tie_word_embeddings", false);
  shape.activation = activation(config, {"hidden_act", "activation_function"}, "silu");
  shape.dropout.hidden = false;
  shape.dropout.attention = drops(config, "attention_dropout", 0);
  check_heads(config, shape, head.has_value());
  read_rotation(config, shape, {}, 1);
  return shape;
}

void no_absent_kv_heads(ModelConfig& config) {
  config.required("key and value heads", {"num_key_value_heads"});
}

ModelShape read_llama(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  const bool bias = config.flag("attention_bias", false);
  shape.qkv_bias = shape.out_bias = bias;
  shape.ffn_bias = config.flag("mlp_bias", false);
  return shape;
}

void set_window(ModelShape& shape, std::optional<std::uint32_t> window) {
  if (window) shape.windows.assign(shape.layers, *window);
}

ModelShape read_mistral(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  no_absent_kv_heads(config);
  set_window(shape, config.integer({"sliding_window"}));
  return shape;
}

/// `layer_types` says for each layer whether it has the window, which wins over any rule.
void read_layer_types(ModelConfig& config, ModelShape& shape, std::uint32_t window) {
  const std::vector<std::string> types = config.words("layer_types");
  if (!config.has("layer_types")) return;
  if (types.size() != shape.layers) {
    config.refuse("layer_types", fmt::format("{} of them", types.size()),
                  fmt::format("a word for each of the {} layers", shape.layers));
  }
  shape.windows.assign(shape.layers, 0);
  for (std::uint32_t l = 0; l < shape.layers; ++l) {
    if (types[l] == "full_attention") continue;
    if (types[l] != "sliding_attention") {
      config.refuse("layer_types", fmt::format("{} in layer {}", types[l], l),
                    "full_attention, sliding_attention");
    }
    if (window == 0) {
      config.refuse("layer_types", fmt::format("layer {} slides without sliding_window", l),
                    "full_attention");
    }
    shape.windows[l] = window;
  }
}

/// Of Qwen: layers from max_window_layers on have it, if use_sliding_window says so.
void read_switched_window(ModelConfig& config, ModelShape& shape) {
  const bool used = config.flag("use_sliding_window", false);
  const std::uint32_t given = config.integer({"sliding_window"}).value_or(0);
  const std::uint32_t first = config.count("max_window_layers", shape.layers);
  const std::uint32_t window = used ? given : 0;
  if (window != 0 && !config.has("layer_types")) {
    shape.windows.assign(shape.layers, window);
    std::fill(shape.windows.begin(), shape.windows.begin() + std::min(first, shape.layers), 0);
  }
  read_layer_types(config, shape, window);
}

ModelShape read_qwen2(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  no_absent_kv_heads(config);
  shape.qkv_bias = config.flag("qkv_bias", true);
  config.neutral({{"use_mrope", "false"}});
  read_switched_window(config, shape);
  return shape;
}

ModelShape read_qwen3(ModelConfig& config) {
  config.required("width of a head", {"head_dim"});
  ModelShape shape = read_rotary(config);
  no_absent_kv_heads(config);
  shape.qk_norm = QkNorm::head;
  shape.qkv_bias = shape.out_bias = config.flag("attention_bias", false);
  read_switched_window(config, shape);
  return shape;
}

// Qwen2, with a layer that guesses a token further, which decoding does without.
ModelShape read_mimo(ModelConfig& config) {
  ModelShape shape = read_qwen2(config);
  config.neutral({{"attention_bias", "true"}});
  const std::uint32_t further = config.count("num_nextn_predict_layers", 0);
  if (further != 0) {
    config.leave_out(fmt::format("num_nextn_predict_layers: {} layer{} that predict further tokens",
                                 further, further == 1 ? "" : "s"));
  }
  return shape;
}

/// Llama, but some layers do not rotate queries and keys: those with 0 in a list, or every fourth.
ModelShape read_smollm3(ModelConfig& config) {
  ModelShape shape = read_llama(config);
  no_absent_kv_heads(config);
  read_switched_window(config, shape);
  constexpr std::uint32_t kUsual = 4;
  const std::uint32_t interval = config.integer({"no_rope_layer_interval"}).value_or(kUsual);
  const std::vector<std::uint32_t> rotates = config.integers("no_rope_layers", 2);
  if (!rotates.empty() && rotates.size() != shape.layers) {
    config.refuse("no_rope_layers", fmt::format("{} of them", rotates.size()),
                  fmt::format("0 or 1 for each of the {} layers", shape.layers));
  }
  for (std::uint32_t l = 0; l < shape.layers; ++l) {
    shape.unrotated.push_back(rotates.empty() ? (l + 1) % interval == 0 : rotates[l] == 0);
  }
  return shape;
}

// Norms of what blocks give instead of what they read, and of queries and keys over all heads.
ModelShape read_olmo2(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  shape.qkv_bias = shape.out_bias = config.flag("attention_bias", false);
  if (shape.out_bias) config.refuse("attention_bias", "", "false");
  shape.pre_norms = false;
  shape.post_norms = true;
  shape.qk_norm = QkNorm::width;
  return shape;
}

// Llama with four factors, of which that of the scores is in an operation that is there anyway.
ModelShape read_granite(ModelConfig& config) {
  ModelShape shape = read_llama(config);
  shape.scaled_embedding = config.scales("embedding_multiplier");
  shape.scaled_residual = config.scales("residual_multiplier");
  shape.scaled_logits = config.scales("logits_scaling");
  config.scales("attention_multiplier");
  return shape;
}

void read_experts(ModelConfig& config, ModelShape& shape, ModelConfig::Keys count,
                  ModelConfig::Keys width) {
  ExpertShape& experts = shape.experts;
  experts.count = config.required("experts", count, ModelConfig::kMostExperts);
  experts.chosen = config.required("experts of a token", {"num_experts_per_tok"});
  experts.ffn = config.required("inner width of an expert", width);
  if (experts.chosen > experts.count) {
    config.refuse("num_experts_per_tok", "", fmt::format("at most the {} experts", experts.count));
  }
}

/// Layers without experts: those listed, and all but every `decoder_sparse_step`-th.
void read_dense_layers(ModelConfig& config, ModelShape& shape) {
  const std::uint32_t step = config.integer({"decoder_sparse_step"}).value_or(1);
  std::vector<bool>& dense = shape.experts.dense;
  dense.assign(shape.layers, false);
  for (std::uint32_t l = 0; l < shape.layers; ++l) dense[l] = (l + 1) % step != 0;
  for (const std::uint32_t l : config.integers("mlp_only_layers", shape.layers)) dense[l] = true;
}

ModelShape read_mixtral(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  no_absent_kv_heads(config);
  read_experts(config, shape, {"num_local_experts"}, {"intermediate_size"});
  shape.names = WeightNames::mixtral;
  set_window(shape, config.integer({"sliding_window"}));
  config.read({"router_jitter_noise"});  // of training
  return shape;
}

// Norms with offsets, biases of attention and of the head, and SparseMixer as its router.
ModelShape read_phimoe(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  no_absent_kv_heads(config);
  read_experts(config, shape, {"num_local_experts"}, {"intermediate_size"});
  shape.experts.one_by_one = true;
  shape.names = WeightNames::mixtral;
  shape.rms = false;
  shape.qkv_bias = shape.out_bias = config.flag("attention_bias", false);
  shape.head_bias = config.flag("lm_head_bias", false);
  set_window(shape, config.integer({"sliding_window"}));
  config.read({"router_jitter_noise", "input_jitter_noise", "expert_dropout", "hidden_dropout"});
  return shape;
}

ModelShape read_qwen2_moe(ModelConfig& config) {
  ModelShape shape = read_qwen2(config);
  read_experts(config, shape, {"num_experts"}, {"moe_intermediate_size"});
  shape.experts.shared =
      config.required("inner width of the shared expert", {"shared_expert_intermediate_size"});
  shape.experts.shared_gate = true;
  read_dense_layers(config, shape);
  config.read({"norm_topk_prob"});  // a factor of the weights of a token's experts
  return shape;
}

ModelShape read_qwen3_moe(ModelConfig& config) {
  ModelShape shape = read_qwen3(config);
  config.neutral(
      {{"shared_expert_intermediate_size", "0"}, {"use_qk_norm", "true"}, {"qkv_bias", "false"}});
  read_experts(config, shape, {"num_experts"}, {"moe_intermediate_size"});
  read_dense_layers(config, shape);
  config.read({"norm_topk_prob"});
  return shape;
}

ModelShape read_gemma(ModelConfig& config) {
  config.required("width of a head", {"head_dim"});
  // The old key is not what the model does: gelu with tanh either way.
  const std::string named = activation(config, {"hidden_activation"}, "gelu_pytorch_tanh");
  ModelShape shape = read_rotary(config);
  no_absent_kv_heads(config);
  shape.activation = named;
  shape.tied = config.flag("tie_word_embeddings", true);
  shape.scaled_embedding = true;
  shape.qkv_bias = shape.out_bias = config.flag("attention_bias", false);
  return shape;
}

// Norms after the blocks too, which leave no place for a bias of their last product.
ModelShape read_later_gemma(ModelConfig& config) {
  ModelShape shape = read_gemma(config);
  if (shape.out_bias) config.refuse("attention_bias", "", "false");
  shape.post_norms = true;
  shape.score_cap = config.has("attn_logit_softcapping");
  shape.logit_cap = config.has("final_logit_softcapping");
  config.read({"attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar"});
  config.neutral({{"use_bidirectional_attention", "false"}});
  return shape;
}

/// All layers but every `period`-th have the window.
void read_alternating_window(ModelConfig& config, ModelShape& shape, std::uint32_t period) {
  const std::uint32_t window = config.required("window", {"sliding_window", "sliding_window_size"});
  set_window(shape, window);
  for (std::uint32_t l = 0; l < shape.layers; ++l) {
    if ((l + 1) % period == 0) shape.windows[l] = 0;
  }
  read_layer_types(config, shape, window);
}

ModelShape read_gemma2(ModelConfig& config) {
  ModelShape shape = read_later_gemma(config);
  read_alternating_window(config, shape, 2);
  return shape;
}

ModelShape read_gemma3(ModelConfig& config) {
  constexpr std::uint32_t kPeriod = 6;
  ModelShape shape = read_later_gemma(config);
  shape.qk_norm = QkNorm::head;
  const std::uint32_t period =
      config.integer({"sliding_window_pattern", "_sliding_window_pattern"}).value_or(kPeriod);
  read_alternating_window(config, shape, period);
  return shape;
}

ModelShape read_phi3(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  shape.names = WeightNames::phi3;
  read_rotation(config, shape, {"partial_rotary_factor"}, 1);
  set_window(shape, config.integer({"sliding_window"}));
  shape.dropout.embedding = drops(config, "embd_pdrop", 0);
  shape.dropout.hidden = drops(config, "resid_pdrop", 0);
  for (const char* bias : {"attention_bias", "mlp_bias", "lm_head_bias"}) {
    config.neutral({{bias, "false"}});
  }
  config.neutral({{"full_attn_mod", "1"}, {"interpolate_factor", "1"}});
  return shape;
}

ModelShape read_gpt_neox(ModelConfig& config) {
  ModelShape shape = shape_of_family(ModelFamily::gpt);
  shape.names = WeightNames::neox;
  read_sizes(config, shape);
  read_plain_block(config, shape, {"intermediate_size"});
  shape.activation = activation(config, {"hidden_act"}, "gelu");
  shape.tied = config.flag("tie_word_embeddings", false);
  shape.position_table = false;
  shape.parallel = config.flag("use_parallel_residual", true);
  shape.qkv_bias = shape.out_bias = config.flag("attention_bias", true);
  shape.dropout.hidden = drops(config, "hidden_dropout", 0);
  shape.dropout.attention = drops(config, "attention_dropout", 0);
  // the same in files of before both had a name of their own
  shape.dropout.hidden |= drops(config, "hidden_dropout_prob", 0);
  shape.dropout.attention |= drops(config, "attention_probs_dropout_prob", 0);
  shape.dropout.embedding = shape.dropout.hidden;
  config.neutral({{"num_key_value_heads", std::to_string(shape.heads)}});
  check_heads(config, shape, false);
  constexpr double kQuarter = 0.25;
  read_rotation(config, shape, {"rotary_pct", "partial_rotary_factor"}, kQuarter);
  return shape;
}

// What ONNXim has as the shape of a model, a Llama.
ModelShape read_onnxim_llama(ModelConfig& config) {
  ModelShape shape = read_rotary(config);
  config.read({"ffn_type", "run_single_layer"});
  config.neutral({{"tensor_parallel_size", "1"}, {"pipeline_parallel_size", "1"}});
  return shape;
}

// The same of an OPT, or of a GPT if it is no ReLU.
ModelShape read_onnxim_plain(ModelConfig& config) {
  const std::string function = activation(config, {"activation_function"}, "gelu");
  ModelShape shape = function == "relu" ? read_opt(config) : read_gpt2(config);
  if (function != "relu") read_plain_block(config, shape, {"intermediate_size"});
  config.read({"ffn_type", "run_single_layer"});
  config.neutral({{"tensor_parallel_size", "1"}, {"pipeline_parallel_size", "1"}});
  return shape;
}

// The training configuration of GPT-Neo for meshes: a GPT with all attention global.
ModelShape read_mesh_gpt(ModelConfig& config) {
  ModelShape shape = shape_of_family(ModelFamily::gpt);
  shape.names = WeightNames::none;
  read_sizes(config, shape);
  read_plain_block(config, shape, {});
  shape.activation = activation(config, {"activation_function"}, "gelu");
  read_dropout(config, shape, "embed_dropout", "res_dropout", "attn_dropout");
  config.neutral({{"attention_types", fmt::format("[[[\"global\"], {}]]", shape.layers)},
                  {"scale_by_in", "false"},
                  {"no_weight_tie", "false"}});
  config.read({"lr",
               "lr_decay",
               "warmup_steps",
               "beta1",
               "beta2",
               "epsilon",
               "opt_name",
               "weight_decay",
               "train_batch_size",
               "train_steps",
               "eval_steps",
               "predict_steps",
               "eval_batch_size",
               "predict_batch_size",
               "iterations",
               "datasets",
               "model_path",
               "scale_by_depth",
               "mesh_shape",
               "layout",
               "recompute_grad",
               "gradient_clipping",
               "tokens_per_mb_per_replica"});
  check_heads(config, shape, false);
  return shape;
}

}  // namespace

const std::vector<ModelType>& model_types() {
  static const std::vector<ModelType> kTypes = {
      {"bert", "Bert", read_bert},
      {"roberta", "Roberta", read_bert},
      {"gpt2", "GPT2", read_gpt2},
      {"opt", "OPT", read_opt},
      {"gpt_neox", "GPTNeoX", read_gpt_neox},
      {"llama", "Llama", read_llama},
      {"mistral", "Mistral", read_mistral},
      {"mixtral", "Mixtral", read_mixtral},
      {"qwen2", "Qwen2", read_qwen2},
      {"qwen2_moe", "Qwen2Moe", read_qwen2_moe},
      {"qwen3", "Qwen3", read_qwen3},
      {"qwen3_vl_text", "Qwen3VL", read_qwen3},
      {"mimo", "MiMo", read_mimo},
      {"smollm3", "SmolLM3", read_smollm3},
      {"olmo2", "Olmo2", read_olmo2},
      {"granite", "Granite", read_granite},
      {"qwen3_moe", "Qwen3Moe", read_qwen3_moe},
      {"gemma", "Gemma", read_gemma},
      {"gemma2", "Gemma2", read_gemma2},
      {"gemma3_text", "Gemma3", read_gemma3},
      {"phi3", "Phi3", read_phi3},
      {"phimoe", "PhiMoE", read_phimoe},
      {"onnxim", "", read_onnxim_plain},
      {"onnxim-llama", "", read_onnxim_llama},
      {"mesh-gpt", "", read_mesh_gpt},
  };
  return kTypes;
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/model_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

constexpr const char* kTurc = "Turc et al., Well-Read Students Learn Better, 2019";
constexpr const char* kDevlin = "Devlin et al., BERT, 2018";
constexpr const char* kRadford = "Radford et al., GPT-2, 2019";
constexpr const char* kBrown = "Brown et al., GPT-3, 2020; 13B as 40 heads of 128";
constexpr const char* kTrillion = "ours: layers of GPT-3 175B, as many as make 10^12 parameters";
constexpr const char* kZhang = "Zhang et al., OPT, 2022";
constexpr const char* kTouvron = "Touvron et al., Llama 2, 2023";
constexpr const char* kLlama3 = "Meta, Llama 3, 2024";
constexpr const char* kCodeLlama = "Roziere et al., Code Llama, 2023";
constexpr const char* kQwen2 = "Yang et al., Qwen2, 2024";
constexpr const char* kMistral = "Jiang et al., Mistral 7B, 2023";
constexpr const char* kMixtral = "Jiang et al., Mixtral of Experts, 2024";
constexpr const char* kQwen3 = "Yang et al., Qwen3, 2025";
constexpr const char* kChelombiev = "Chelombiev et al., GroupBERT, 2021";

// A gated block has three matrices, a plain one two; biases if it has any.
std::uint64_t block_parameters(const ModelShape& s, std::uint64_t inner) {
  const std::uint64_t d = s.width;
  const std::uint64_t ups = s.gated ? 2 : 1;
  return (ups + 1) * d * inner + (s.ffn_bias ? ups * inner + d : 0);
}

// `experts` of them are counted.
std::uint64_t expert_parameters(const ModelShape& s, std::uint64_t experts) {
  const std::uint64_t d = s.width;
  const ExpertShape& e = s.experts;
  const std::uint64_t router = d * e.count;
  const std::uint64_t shared =
      e.shared == 0 ? 0 : block_parameters(s, e.shared) + (e.shared_gate ? d : 0);
  return experts * block_parameters(s, e.ffn) + router + shared;
}

std::uint64_t attention_parameters(const ModelShape& s) {
  const std::uint64_t d = s.width;
  const std::uint64_t q = s.query_width();
  const std::uint64_t kv = s.kv_width();
  std::uint64_t sum = 2 * d * q + 2 * d * kv;
  if (s.qkv_bias) sum += q + 2 * kv;
  if (s.out_bias) sum += d;
  if (s.qk_norm == QkNorm::head) sum += 2 * std::uint64_t{s.head_width()};
  if (s.qk_norm == QkNorm::width) sum += q + kv;
  return sum;
}

// OPT keeps two rows of positions that no token uses.
std::uint64_t spare_positions(const ModelShape& s) { return s.family == ModelFamily::opt ? 2 : 0; }

std::uint64_t transformer_parameters(const ModelShape& s, std::uint64_t experts) {
  const std::uint64_t d = s.width;
  const std::uint64_t norm = s.rms ? d : 2 * d;
  std::uint64_t sum = s.vocabulary * d * (s.tied ? 1 : 2) + (s.head_bias ? s.vocabulary : 0);
  if (s.position_table) sum += (s.positions + spare_positions(s)) * d;
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    sum += attention_parameters(s) + ((s.pre_norms ? 2 : 0) + (s.post_norms ? 2 : 0)) * norm;
    sum += s.has_experts(layer) ? expert_parameters(s, experts) : block_parameters(s, s.ffn);
  }
  // After the layers a norm, or for BERT the pooler; BERT's norm follows its tables.
  sum += norm;
  if (s.family == ModelFamily::bert) sum += s.types * d + d * d + d;
  return sum;
}

// Of a layer only the weights are counted, 19 d^2 + 112 d: convolution module 3 d^2 + 112 d, two
// feed-forward blocks of 6 d^2, attention 4 d^2.
std::uint64_t group_bert_parameters(const ModelShape& s) {
  const std::uint64_t d = s.width;
  return (s.vocabulary + std::uint64_t{s.positions} + s.types) * d + 2 * d +
         s.layers * (19 * d * d + 112 * d) + d * d + d;
}

}  // namespace

const char* family_name(ModelFamily family) {
  constexpr std::array names = {"bert", "gpt", "opt", "llama", "groupbert"};
  return names.at(static_cast<std::size_t>(family));
}

bool ModelShape::has_experts(std::uint32_t layer) const {
  return experts.count != 0 && !(layer < experts.dense.size() && experts.dense[layer]);
}

ModelShape shape_of_family(ModelFamily family) {
  ModelShape shape;
  shape.family = family;
  if (family == ModelFamily::bert) shape.names = WeightNames::bert;
  if (family == ModelFamily::gpt) shape.names = WeightNames::gpt2;
  if (family == ModelFamily::opt) {
    shape.names = WeightNames::opt;
    shape.activation = "relu";
  }
  if (family != ModelFamily::llama) return shape;
  shape.names = WeightNames::llama;
  shape.rms = shape.gated = true;
  shape.activation = "silu";
  shape.qkv_bias = shape.out_bias = shape.ffn_bias = false;
  shape.tied = shape.position_table = false;
  shape.dropout.embedding = false;
  return shape;
}

namespace {

// layers, width, heads, key and value heads, inner width, vocabulary, positions
using Sizes = std::array<std::uint32_t, 7>;

ModelShape named(const char* name, ModelFamily family, const Sizes& sizes, const char* source) {
  ModelShape shape = shape_of_family(family);
  shape.name = name;
  shape.source = source;
  shape.layers = sizes[0];
  shape.width = sizes[1];
  shape.heads = sizes[2];
  shape.kv_heads = sizes[3];
  shape.ffn = sizes[4];
  shape.vocabulary = sizes[5];
  shape.positions = sizes[6];
  if (family == ModelFamily::llama) shape.rotated = shape.head_width();
  return shape;
}

// Blocks four times as wide as the model, and keys and values for each head.
ModelShape plain(const char* name, ModelFamily family, std::uint32_t layers, std::uint32_t width,
                 std::uint32_t heads, std::uint32_t vocabulary, std::uint32_t positions,
                 const char* source) {
  return named(name, family, {layers, width, heads, heads, 4 * width, vocabulary, positions},
               source);
}

// Heads of 128 features, whatever the width, norms of queries and keys; one vocabulary.
ModelShape qwen3(const char* name, Sizes sizes, bool tied) {
  sizes[5] = 151936;
  sizes[6] = 40960;
  ModelShape shape = named(name, ModelFamily::llama, sizes, kQwen3);
  constexpr std::uint32_t kHead = 128;
  shape.head_dim = shape.rotated = kHead;
  shape.qk_norm = QkNorm::head;
  shape.tied = tied;
  return shape;
}

ModelShape with_experts(ModelShape shape, std::uint32_t count, std::uint32_t chosen,
                        std::uint32_t ffn) {
  shape.experts.count = count;
  shape.experts.chosen = chosen;
  shape.experts.ffn = ffn;
  return shape;
}

ModelShape of_mixtral(ModelShape shape) {
  shape.names = WeightNames::mixtral;
  return shape;
}

ModelShape with_qkv_bias(ModelShape shape) {
  shape.qkv_bias = true;
  return shape;
}

ModelShape with_window(ModelShape shape, std::uint32_t window) {
  shape.windows.assign(shape.layers, window);
  return shape;
}

std::vector<ModelShape> make_shapes() {
  using F = ModelFamily;
  return {
      plain("bert-tiny", F::bert, 2, 128, 2, 30522, 512, kTurc),
      plain("bert-mini", F::bert, 4, 256, 4, 30522, 512, kTurc),
      plain("bert-small", F::bert, 4, 512, 8, 30522, 512, kTurc),
      plain("bert-medium", F::bert, 8, 512, 8, 30522, 512, kTurc),
      plain("bert-base", F::bert, 12, 768, 12, 30522, 512, kDevlin),
      plain("bert-large", F::bert, 24, 1024, 16, 30522, 512, kDevlin),
      plain("gpt2", F::gpt, 12, 768, 12, 50257, 1024, kRadford),
      plain("gpt2-small", F::gpt, 12, 768, 12, 50257, 1024, kRadford),  // gpt2
      plain("gpt2-medium", F::gpt, 24, 1024, 16, 50257, 1024, kRadford),
      plain("gpt2-large", F::gpt, 36, 1280, 20, 50257, 1024, kRadford),
      plain("gpt2-xl", F::gpt, 48, 1600, 25, 50257, 1024, kRadford),
      plain("gpt3-xl", F::gpt, 24, 2048, 16, 50257, 2048, kBrown),
      plain("gpt3-2.7b", F::gpt, 32, 2560, 32, 50257, 2048, kBrown),
      plain("gpt3-6.7b", F::gpt, 32, 4096, 32, 50257, 2048, kBrown),
      plain("gpt3-13b", F::gpt, 40, 5120, 40, 50257, 2048, kBrown),
      plain("gpt3-175b", F::gpt, 96, 12288, 96, 50257, 2048, kBrown),
      plain("gpt-1t", F::gpt, 552, 12288, 96, 50257, 2048, kTrillion),
      plain("opt-125m", F::opt, 12, 768, 12, 50272, 2048, kZhang),
      named("llama2-7b", F::llama, {32, 4096, 32, 32, 11008, 32000, 4096}, kTouvron),
      named("llama2-13b", F::llama, {40, 5120, 40, 40, 13824, 32000, 4096}, kTouvron),
      named("llama2-70b", F::llama, {80, 8192, 64, 8, 28672, 32000, 4096}, kTouvron),
      named("codellama-34b", F::llama, {48, 8192, 64, 8, 22016, 32000, 16384}, kCodeLlama),
      named("llama3-8b", F::llama, {32, 4096, 32, 8, 14336, 128256, 8192}, kLlama3),
      with_window(named("mistral-7b", F::llama, {32, 4096, 32, 8, 14336, 32000, 32768}, kMistral),
                  4096),
      of_mixtral(with_experts(
          named("mixtral-8x7b", F::llama, {32, 4096, 32, 8, 14336, 32000, 32768}, kMixtral), 8, 2,
          14336)),
      of_mixtral(with_experts(
          named("mixtral-8x22b", F::llama, {56, 6144, 48, 8, 16384, 32000, 65536}, kMixtral), 8, 2,
          16384)),
      with_qkv_bias(named("qwen2-72b", F::llama, {80, 8192, 64, 8, 29568, 152064, 32768}, kQwen2)),
      qwen3("qwen3-0.6b", {28, 1024, 16, 8, 3072}, true),
      qwen3("qwen3-1.7b", {28, 2048, 16, 8, 6144}, true),
      qwen3("qwen3-4b", {36, 2560, 32, 8, 9728}, true),
      qwen3("qwen3-8b", {36, 4096, 32, 8, 12288}, false),
      qwen3("qwen3-14b", {40, 5120, 40, 8, 17408}, false),
      qwen3("qwen3-32b", {64, 5120, 64, 8, 25600}, false),
      with_experts(qwen3("qwen3-30b-a3b", {48, 2048, 32, 4, 6144}, false), 128, 8, 768),
      with_experts(qwen3("qwen3-235b-a22b", {94, 4096, 64, 4, 12288}, false), 128, 8, 1536),
      plain("groupbert-base", F::group_bert, 12, 768, 12, 30522, 512, kChelombiev),
      plain("groupbert-large", F::group_bert, 24, 1024, 16, 30522, 512, kChelombiev),
  };
}

}  // namespace

const std::vector<ModelShape>& model_shapes() {
  static const std::vector<ModelShape> kShapes = make_shapes();
  return kShapes;
}

std::vector<std::string> model_series() {
  return {"codellama", "mistral", "mixtral", "qwen2", "qwen3"};
}

const ModelShape& find_model_shape(const std::string& name) {
  return named_in(model_shapes(), name, "model '{}' is not known; known: {}{}");
}

std::uint64_t parameter_count(const ModelShape& shape) {
  if (shape.family == ModelFamily::group_bert) return group_bert_parameters(shape);
  return transformer_parameters(shape, shape.experts.count);
}

std::uint64_t active_parameter_count(const ModelShape& shape) {
  if (shape.family == ModelFamily::group_bert) return group_bert_parameters(shape);
  return transformer_parameters(shape, shape.experts.chosen);
}

}  // namespace lacuna

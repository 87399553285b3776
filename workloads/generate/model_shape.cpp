// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/model_shape.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

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
constexpr const char* kChelombiev = "Chelombiev et al., GroupBERT, 2021";

std::uint64_t bert_parameters(const ModelShape& s) {
  const std::uint64_t d = s.width;
  const std::uint64_t f = s.ffn;
  const std::uint64_t layer = 4 * (d * d + d) + 2 * d * f + f + d + 4 * d;
  constexpr std::uint64_t kTypes = 2;
  return (s.vocabulary + std::uint64_t{s.positions} + kTypes) * d + 2 * d + s.layers * layer +
         d * d + d;
}

std::uint64_t gpt_parameters(const ModelShape& s) {
  const std::uint64_t d = s.width;
  const std::uint64_t f = s.ffn;
  const std::uint64_t layer = 4 * d * d + 4 * d + 2 * d * f + f + d + 4 * d;
  // OPT keeps two rows of positions that no token uses.
  const std::uint64_t spare = s.family == ModelFamily::opt ? 2 : 0;
  return (s.vocabulary + s.positions + spare) * d + s.layers * layer + 2 * d;
}

std::uint64_t llama_parameters(const ModelShape& s) {
  const std::uint64_t d = s.width;
  const std::uint64_t kv = std::uint64_t{s.head_width()} * s.kv_heads;
  const std::uint64_t layer = 2 * d * d + 2 * d * kv + 3 * d * s.ffn + 2 * d;
  return 2 * std::uint64_t{s.vocabulary} * d + s.layers * layer + d;
}

// Of a layer only the weights are counted, 19 d^2 + 112 d: convolution module 3 d^2 + 112 d, two
// feed-forward blocks of 6 d^2, attention 4 d^2.
std::uint64_t group_bert_parameters(const ModelShape& s) {
  const std::uint64_t d = s.width;
  constexpr std::uint64_t kTypes = 2;
  return (s.vocabulary + std::uint64_t{s.positions} + kTypes) * d + 2 * d +
         s.layers * (19 * d * d + 112 * d) + d * d + d;
}

}  // namespace

const char* family_name(ModelFamily family) {
  switch (family) {
    case ModelFamily::bert:
      return "bert";
    case ModelFamily::gpt:
      return "gpt";
    case ModelFamily::opt:
      return "opt";
    case ModelFamily::llama:
      return "llama";
    case ModelFamily::group_bert:
      return "groupbert";
  }
  return "";
}

const std::vector<ModelShape>& model_shapes() {
  using F = ModelFamily;
  static const std::vector<ModelShape> kShapes = {
      {"bert-tiny", F::bert, 2, 128, 2, 2, 512, 30522, 512, kTurc},
      {"bert-mini", F::bert, 4, 256, 4, 4, 1024, 30522, 512, kTurc},
      {"bert-small", F::bert, 4, 512, 8, 8, 2048, 30522, 512, kTurc},
      {"bert-medium", F::bert, 8, 512, 8, 8, 2048, 30522, 512, kTurc},
      {"bert-base", F::bert, 12, 768, 12, 12, 3072, 30522, 512, kDevlin},
      {"bert-large", F::bert, 24, 1024, 16, 16, 4096, 30522, 512, kDevlin},
      {"gpt2", F::gpt, 12, 768, 12, 12, 3072, 50257, 1024, kRadford},
      {"gpt2-small", F::gpt, 12, 768, 12, 12, 3072, 50257, 1024, kRadford},  // gpt2
      {"gpt2-medium", F::gpt, 24, 1024, 16, 16, 4096, 50257, 1024, kRadford},
      {"gpt2-large", F::gpt, 36, 1280, 20, 20, 5120, 50257, 1024, kRadford},
      {"gpt2-xl", F::gpt, 48, 1600, 25, 25, 6400, 50257, 1024, kRadford},
      {"gpt3-xl", F::gpt, 24, 2048, 16, 16, 8192, 50257, 2048, kBrown},
      {"gpt3-2.7b", F::gpt, 32, 2560, 32, 32, 10240, 50257, 2048, kBrown},
      {"gpt3-6.7b", F::gpt, 32, 4096, 32, 32, 16384, 50257, 2048, kBrown},
      {"gpt3-13b", F::gpt, 40, 5120, 40, 40, 20480, 50257, 2048, kBrown},
      {"gpt3-175b", F::gpt, 96, 12288, 96, 96, 49152, 50257, 2048, kBrown},
      {"gpt-1t", F::gpt, 552, 12288, 96, 96, 49152, 50257, 2048, kTrillion},
      {"opt-125m", F::opt, 12, 768, 12, 12, 3072, 50272, 2048, kZhang},
      {"llama2-7b", F::llama, 32, 4096, 32, 32, 11008, 32000, 4096, kTouvron},
      {"llama2-13b", F::llama, 40, 5120, 40, 40, 13824, 32000, 4096, kTouvron},
      {"llama2-70b", F::llama, 80, 8192, 64, 8, 28672, 32000, 4096, kTouvron},
      {"llama3-8b", F::llama, 32, 4096, 32, 8, 14336, 128256, 8192, kLlama3},
      {"groupbert-base", F::group_bert, 12, 768, 12, 12, 3072, 30522, 512, kChelombiev},
      {"groupbert-large", F::group_bert, 24, 1024, 16, 16, 4096, 30522, 512, kChelombiev},
  };
  return kShapes;
}

const ModelShape& find_model_shape(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelShape& shape : model_shapes()) {
    if (shape.name == name) return shape;
    names.push_back(shape.name);
  }
  const std::string hint = nearest(name, names, 3);
  throw RequestError(fmt::format("model '{}' is not known; known: {}{}", name,
                                 fmt::join(names, ", "),
                                 hint.empty() ? "" : fmt::format("; did you mean '{}'?", hint)));
}

std::uint64_t parameter_count(const ModelShape& shape) {
  switch (shape.family) {
    case ModelFamily::bert:
      return bert_parameters(shape);
    case ModelFamily::gpt:
    case ModelFamily::opt:
      return gpt_parameters(shape);
    case ModelFamily::llama:
      return llama_parameters(shape);
    case ModelFamily::group_bert:
      return group_bert_parameters(shape);
  }
  return 0;
}

}  // namespace lacuna

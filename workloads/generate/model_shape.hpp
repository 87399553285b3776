// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lacuna {

enum class ModelFamily { bert, gpt, opt, llama, group_bert };

/// "bert", "gpt", "opt", "llama", "groupbert".
const char* family_name(ModelFamily family);

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

  std::uint32_t head_width() const { return width / heads; }
};

/// The shapes that are known by name.
const std::vector<ModelShape>& model_shapes();

/// The shape of that name; RequestError with the nearest one if there is none.
const ModelShape& find_model_shape(const std::string& name);

/// Trained numbers of the whole model, from the closed forms of its family. BERT: with pooler and
/// without language-model head; GPT and OPT: head tied to the embedding; Llama: not tied.
std::uint64_t parameter_count(const ModelShape& shape);

}  // namespace lacuna

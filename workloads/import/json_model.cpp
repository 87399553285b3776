// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/import/json_text.hpp"
#include "workloads/trace/problem.hpp"

namespace lacuna {
namespace {

using Json = nlohmann::json;

class Config {
 public:
  Config(const Json& json, const std::string& path) : json_(json), path_(path) {}

  /// The value of the first of `keys` that is there; null counts as absent.
  std::optional<std::uint32_t> integer(const std::vector<const char*>& keys) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found == json_.end() || found->is_null()) continue;
      constexpr std::uint64_t kMost = 0x7fffffff;
      const bool whole = found->is_number_unsigned();
      const std::uint64_t value = whole ? found->get<std::uint64_t>() : 0;
      if (value == 0 || value > kMost) {
        throw_problem({path_, "E203", key, found->dump().substr(0, 40),
                       fmt::format("a whole number in [1, {}]", kMost), ""});
      }
      return static_cast<std::uint32_t>(value);
    }
    return std::nullopt;
  }

  std::uint32_t required(const char* what, const std::vector<const char*>& keys) const {
    const std::optional<std::uint32_t> value = integer(keys);
    if (value) return *value;
    throw_problem({path_, "E101", "", fmt::format("no {}", what),
                   fmt::format("one of the keys {}", fmt::join(keys, ", ")), ""});
  }

  std::string text(const std::vector<const char*>& keys) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found != json_.end() && found->is_string()) return found->get<std::string>();
    }
    return "";
  }

  bool has(const char* key) const { return json_.contains(key); }
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  const std::string& path_;
};

std::optional<ModelFamily> family_of_name(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.find("groupbert") != std::string::npos) return ModelFamily::group_bert;
  if (name.find("bert") != std::string::npos) return ModelFamily::bert;
  if (name.find("gpt") != std::string::npos) return ModelFamily::gpt;
  if (name.find("opt") == 0) return ModelFamily::opt;
  if (name.find("llama") != std::string::npos || name.find("mistral") != std::string::npos) {
    return ModelFamily::llama;
  }
  return std::nullopt;
}

ModelFamily family_of(const Config& config, const std::string& activation) {
  std::optional<ModelFamily> family = family_of_name(config.text({"model_type"}));
  const auto architectures = config.json().find("architectures");
  if (!family && architectures != config.json().end() && architectures->is_array() &&
      !architectures->empty() && architectures->front().is_string()) {
    family = family_of_name(architectures->front().get<std::string>());
  }
  const bool silu = activation == "silu" || activation == "swish" || activation == "swiglu";
  if (!family && ((config.has("num_key_value_heads") && config.has("intermediate_size") && silu) ||
                  config.text({"ffn_type"}) == "llama")) {
    family = ModelFamily::llama;
  }
  if (!family && config.has("type_vocab_size")) family = ModelFamily::bert;
  if (!family) family = ModelFamily::gpt;
  if (family == ModelFamily::gpt && activation == "relu") family = ModelFamily::opt;
  return *family;
}

ModelShape shape_of(const Config& config, const ImportFile& file, ImportContext& context) {
  ModelShape shape;
  shape.name = context.new_id(file.stem());
  shape.width = config.required("width", {"hidden_size", "n_embd", "d_model"});
  shape.layers = config.required("layers", {"num_hidden_layers", "n_layer", "num_layers"});
  shape.heads = config.required("heads", {"num_attention_heads", "n_head", "num_heads"});
  shape.kv_heads = config.integer({"num_key_value_heads", "num_kv_heads"}).value_or(shape.heads);
  shape.vocabulary = config.required("vocabulary", {"vocab_size", "n_vocab"});
  shape.positions = config.required(
      "positions", {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_length"});
  shape.ffn =
      config.integer({"intermediate_size", "ffn_dim", "n_inner", "filter_size"})
          .value_or(ImportContext::side(4 * std::uint64_t{shape.width}, file.path, "width"));
  shape.family =
      family_of(config, config.text({"hidden_act", "activation_function", "nonlinearity"}));
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    throw_problem({file.path, "E214", "", found, allowed, ""});
  };
  if (shape.heads > shape.width || shape.width % shape.heads != 0) {
    fail(fmt::format("{} heads of width {}", shape.heads, shape.width),
         "heads that divide the width");
  }
  if (shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    fail(fmt::format("{} key and value heads", shape.kv_heads),
         fmt::format("a divisor of the {} heads", shape.heads));
  }
  const std::optional<std::uint32_t> head = config.integer({"head_dim"});
  if (head && *head != shape.width / shape.heads) {
    fail(fmt::format("heads of width {}", *head),
         fmt::format("{}, the width over the heads", shape.width / shape.heads));
  }
  return shape;
}

/// The object that holds the shape.
const Json& inner(const Json& json) {
  for (const char* key : {"bert_config", "text_config"}) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_object()) return *found;
  }
  return json;
}

}  // namespace

void import_model_config(const ImportFile& file, ImportContext& context, const Pairs& settings) {
  const Json json = parse_json(file.text, file.path);
  if (!json.is_object()) {
    throw_problem({place(file.path, 1, 1), "E206", "", "JSON that is no object", "an object", ""});
  }
  const Config config(inner(json), file.path);
  const ModelShape shape = shape_of(config, file, context);
  const auto single = json.find("run_single_layer");
  if (single != json.end() && single->is_boolean() && single->get<bool>()) {
    context.result.notes.push_back(
        fmt::format("run_single_layer: {} of the layers of a deeper model", shape.layers));
  }
  context.result.notes.push_back(fmt::format("{}, {} layers, {} parameters in all",
                                             family_name(shape.family), shape.layers,
                                             parameter_count(shape)));
  WorkloadTrace trace = generate_model(shape, settings);
  context.result.trace.ops.insert(context.result.trace.ops.end(),
                                  std::make_move_iterator(trace.ops.begin()),
                                  std::make_move_iterator(trace.ops.end()));
}

}  // namespace lacuna

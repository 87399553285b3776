// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/module_rules.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/import/json_config.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/import/model_types.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/json_text.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

using Json = nlohmann::json;

/// The object that holds the shape, and the one around it that may say more of the same model.
struct Objects {
  const Json& inner;
  const Json& outer;
  bool has_other_parts = false;  // for pictures or sounds
};

Objects objects_of(const Json& json) {
  const auto found = json.find("bert_config");  // in the configuration of a training
  if (found != json.end() && found->is_object()) return {*found, *found};
  const auto text = json.find("text_config");
  if (text == json.end() || !text->is_object()) return {json, json};
  return {*text, json, json.contains("vision_config") || json.contains("audio_config")};
}

/// The type that a file calls `name`; empty if there is none of that name.
std::string type_of(std::string name) {
  const std::string torch = "torch.";
  if (starts_with(name, torch)) name = name.substr(torch.size());
  if (name == "float16" || name == "half") return "fp16";
  if (name == "bfloat16") return "bf16";
  if (name == "float32" || name == "float") return "fp32";
  return "";
}

/// The type of operands that the file says, or nothing. Keys of old and new versions may both be
/// there, and then have to say the same.
std::string type_of_numbers(ModelConfig& config) {
  std::string type;
  for (const char* key : {"torch_dtype", "dtype", "precision"}) {
    const std::string name = config.text({key});
    if (name.empty()) continue;
    const std::string found = type_of(name);
    if (found.empty()) config.refuse(key, "", "float16, bfloat16, float32");
    if (!type.empty() && found != type) {
      config.refuse(key, "another key says " + type,
                    "one type of the operands; --skip leaves a key out");
    }
    type = found;
  }
  return type;
}

/// Settings of the generator, with the type that the file says unless --dtype says another.
Pairs with_type(Pairs settings, const std::string& type, ImportContext& context) {
  const std::string* const given = context.settings.text("dtype");
  if (type.empty()) return settings;
  if (given != nullptr) {
    if (*given != type) {
      context.note("operands of {} as asked for; the file says {}", *given, type);
    }
    return settings;
  }
  settings.emplace_back("dtype", type);
  if (type == "bf16") {
    context.warn(
        "operands are bf16, as the file says, which no machine here multiplies; --dtype fp16 has "
        "as many bytes");
  }
  return settings;
}

std::vector<std::string> words_in(const Json& json, const char* key) {
  std::vector<std::string> words;
  if (!json.contains(key) || !json[key].is_array()) return words;
  for (const Json& each : json[key]) {
    if (each.is_string()) words.push_back(each.get<std::string>());
  }
  return words;
}

/// The zeros that compression tools say a checkpoint has. Refuses what is quantised, and zeros of
/// an unknown kind.
std::vector<ModuleRule> read_sparsity(ModelConfig& config) {
  std::vector<ModuleRule> rules;
  for (const char* key : {"quantization_config", "compression_config"}) {
    if (!config.has(key)) continue;
    const Json& all = config.object(key);
    const auto groups = all.find("config_groups");
    const bool quantised = !all.contains("sparsity_config") || all["sparsity_config"].is_null() ||
                           (groups != all.end() && !groups->is_null() && !groups->empty());
    if (quantised) {
      config.refuse(
          key, "",
          fmt::format("weights of the type of the other operands; --skip {} takes them as "
                      "if they were not quantised",
                      key));
    }
    const Json& zeros = all["sparsity_config"];
    const auto text = [&](const char* name) {
      return zeros.contains(name) && zeros[name].is_string() ? zeros[name].get<std::string>() : "";
    };
    const std::string structure = text("sparsity_structure");
    std::optional<double> share;
    if (zeros.contains("global_sparsity") && zeros["global_sparsity"].is_number()) {
      share = zeros["global_sparsity"].get<double>();
    }
    if (text("format") == "dense" && share.value_or(0) == 0) continue;
    ModuleRule rule{pattern_of_sparsity(structure, share), words_in(zeros, "targets"),
                    words_in(zeros, "ignore")};
    if (rule.pattern.empty()) {
      throw_diagnostic(
          config.path() + ": key 'sparsity_config'", "E214", structure,
          "2:4, another N:M whose global_sparsity is N / M or the rest, or unstructured "
          "with its share");
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

void describe(const std::string& type, const ModelShape& shape, ImportContext& context) {
  std::string text = fmt::format("{}, {} layers, {} parameters in all", type, shape.layers,
                                 parameter_count(shape));
  if (shape.experts.count != 0) {
    text += fmt::format(", {} met by a token; {} experts, {} of a token",
                        active_parameter_count(shape), shape.experts.count, shape.experts.chosen);
  }
  if (shape.family == ModelFamily::bert) text += ", with pooler and without head";
  context.note("{}", text);
}

}  // namespace

ModelFile read_model_file(const std::string& text, const std::string& path,
                          const std::vector<std::string>& skipped) {
  const Json json = parse_json(text, path);
  if (!json.is_object()) {
    throw_diagnostic(place(path), "E206", "JSON that is no object", "an object");
  }
  const Objects objects = objects_of(json);
  ModelConfig config(objects.inner, objects.outer, path, skipped);
  const ModelType& type = find_model_type(config);
  ModelFile file;
  file.sparsity = read_sparsity(config);
  file.type = type.name;
  file.other_parts = objects.has_other_parts;
  file.numbers = type_of_numbers(config);
  file.shape = type.read(config);
  file.left_out = config.left_out();
  config.read({"text_config", "vision_config", "audio_config"});
  config.neutral({{"is_encoder_decoder", "false"},
                  {"use_bfloat16", "false"},
                  {"cross_attention_hidden_size", "null"},
                  {"pruned_heads", "{}"}});
  config.finish(type.name);
  file.cut = config.has("run_single_layer") && config.flag("run_single_layer", false);
  return file;
}

ModelFile read_config(const std::string& path, const std::string& text, ImportContext& context) {
  const std::string* const skip = context.settings.text("skip");
  ModelFile model =
      read_model_file(text, path, skip == nullptr ? std::vector<std::string>{} : split(*skip, ','));
  ModelShape& shape = model.shape;
  shape.name = context.new_id(ImportFile{path, ""}.stem());
  if (model.cut) {
    context.note("run_single_layer: {} of the layers of a deeper model", shape.layers);
  }
  if (model.other_parts) {
    context.warn("{}: the language model alone; its parts for pictures or sounds are no rows",
                 path);
  }
  for (const std::string& part : model.left_out) context.note("{}", part);
  if (skip != nullptr) context.note("left out: {}", *skip);
  describe(model.type, shape, context);
  return model;
}

void add_model(const ModelFile& model, const Pairs& settings, const std::vector<PatternRule>& rules,
               ImportContext& context) {
  context.append(generate_model(model.shape, with_type(settings, model.numbers, context), rules));
}

void import_model_config(const ImportFile& file, ImportContext& context) {
  const ModelFile model = read_config(file.path, file.text, context);
  std::uint32_t layers = model.shape.layers;
  context.settings.integer("layers", 1, layers);
  std::vector<PatternRule> rules;
  for (const ModuleRule& rule : model.sparsity) {
    rules = rules_of(rule, model.shape, layers, file.path + ": sparsity_config");
    const bool head = rules.back().where == "head.out";
    context.note("sparsity_config: {} for {} weights of {} layers{}, drawn{}", rule.pattern,
                 rules.size() - (head ? 1 : 0), layers, head ? " and for the head" : "",
                 starts_with(rule.pattern, "unstructured")
                     ? "; global_sparsity is that of the whole file, and taken for each of them"
                     : "");
  }
  add_model(model, context.model_settings(), rules, context);
}

}  // namespace lacuna

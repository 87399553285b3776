// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/json_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/split.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

using Json = nlohmann::json;

/// Keys of every kind of model that change no shape, count or arithmetic: names, tokens, files,
/// what training begins with or watches, how text is generated. Or only a constant in an operation
/// that is there anyway: an epsilon, the base of a rotation and how it is stretched.
const std::vector<std::string>& idle_keys() {
  static const std::vector<std::string> kKeys = split(
      "_attn_implementation _attn_implementation_autoset _commit_hash _name_or_path _num_labels "
      "architectures attn_implementation auto_map bad_words_ids begin_suppress_tokens "
      "boi_token_index bos_token_id cache_implementation chunk_size_feed_forward "
      "classifier_dropout "
      "custom_pipelines decoder_start_token_id diversity_penalty do_sample early_stopping "
      "embedding_initializer_range encoder_no_repeat_ngram_size eoi_token_index eos_token_id "
      "exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id "
      "generation_config gradient_checkpointing id2label image_token_id image_token_index init_std "
      "initializer_factor initializer_range is_llama_config keys_to_ignore label2id language "
      "layer_norm_eps layer_norm_epsilon length_penalty license mask_token_id max_length "
      "max_sequence_length min_length mm_tokens_per_image model_max_length model_type name "
      "no_repeat_ngram_size norm_eps norm_epsilon num_beam_groups num_beams num_labels "
      "num_logits_to_keep num_return_sequences original_max_position_embeddings output_attentions "
      "output_hidden_states output_past output_router_logits output_scores pad_token_id "
      "padding_idx "
      "prefix pretraining_tp problem_type remove_invalid_values repetition_penalty return_dict "
      "return_dict_in_generate rms_norm_eps rope_interleaved rope_local_base_freq rope_parameters "
      "rope_scaling rope_theta rotary_emb_base router_aux_loss_coef router_z_loss_coef "
      "sep_token_id "
      "summary_activation summary_first_dropout summary_proj_to_labels summary_type "
      "summary_use_proj suppress_tokens task_specific_params temperature tf_legacy_loss "
      "tokenizer_class tokenizer_type top_k top_p torchscript transformers.js_config "
      "transformers_version typical_p unsloth_fixed unsloth_version use_cache use_return_dict "
      "video_token_id vision_end_token_id vision_start_token_id",
      ' ');
  return kKeys;
}

std::string place_of(const std::string& path, const char* key) {
  return fmt::format("{}: key '{}'", path, key);
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  if (!value.is_string()) return value.dump().substr(0, kLongest);
  const auto text = value.get<std::string>();
  // a number in quotes is none
  const bool number = !text.empty() && text.find_first_not_of("0123456789.-") == std::string::npos;
  return number ? '"' + text + '"' : text;
}

[[noreturn]] void fail(const std::string& path, const char* key, const char* code,
                       const Json& value, const std::string& allowed) {
  throw_diagnostic(place_of(path, key), code, shown(value), allowed);
}

std::uint32_t whole(const std::string& path, const char* key, const Json& value,
                    std::uint64_t least, std::uint64_t most) {
  const std::uint64_t number = value.is_number_unsigned() ? value.get<std::uint64_t>() : most + 1;
  if (number >= least && number <= most) return static_cast<std::uint32_t>(number);
  fail(path, key, "E203", value, fmt::format("a whole number in [{}, {}]", least, most));
}

double share(const std::string& path, const char* key, const Json& value) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (number >= 0 && number <= 1) return number;
  fail(path, key, "E203", value, "a number in [0, 1]");
}

}  // namespace

ModelConfig::ModelConfig(const Json& inner, const Json& outer, std::string path,
                         const std::vector<std::string>& skipped)
    : inner_(inner), outer_(outer), path_(std::move(path)) {
  for (const std::string& key : skipped) {
    if (!inner_.contains(key) && !outer_.contains(key)) {
      refuse_request("--skip {}: {} has no such key", key, path_);
    }
    skipped_.insert(key);
  }
}

const Json* ModelConfig::find(const char* key) const {
  if (skipped_.count(key) != 0) return nullptr;
  for (const Json* json : {&inner_, &outer_}) {
    const auto found = json->find(key);
    if (found != json->end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

const Json* ModelConfig::take(const char* key) {
  read_.insert(key);
  return find(key);
}

bool ModelConfig::has(const char* key) const { return find(key) != nullptr; }

std::optional<std::uint32_t> ModelConfig::integer(Keys keys, std::uint64_t most) {
  std::optional<std::uint32_t> first;
  for (const char* key : keys) {
    const Json* value = take(key);
    if (value == nullptr) continue;
    const std::uint32_t number = whole(path_, key, *value, 1, most);
    if (first.value_or(number) != number) {
      fail(path_, key, "E214", *value, fmt::format("{}, as another key says", *first));
    }
    first = number;
  }
  return first;
}

std::uint32_t ModelConfig::required(const char* what, Keys keys, std::uint64_t most) {
  const std::optional<std::uint32_t> value = integer(keys, most);
  if (value) return *value;
  throw_diagnostic(path_, "E101", fmt::format("no {}", what),
                   keys.size() == 1 ? fmt::format("the key {}", *keys.begin())
                                    : fmt::format("one of the keys {}", fmt::join(keys, ", ")));
}

std::uint32_t ModelConfig::count(const char* key, std::uint32_t otherwise) {
  const Json* value = take(key);
  return value == nullptr ? otherwise : whole(path_, key, *value, 0, kMostSide);
}

std::optional<double> ModelConfig::fraction(Keys keys) {
  std::optional<double> first;
  for (const char* key : keys) {
    const Json* value = take(key);
    if (value != nullptr && !first) first = share(path_, key, *value);
  }
  return first;
}

std::optional<double> ModelConfig::fraction_in(Keys objects, const char* key) {
  for (const char* name : objects) {
    const Json* object = take(name);
    if (object == nullptr || !object->is_object() || !object->contains(key)) continue;
    return share(path_, key, (*object)[key]);
  }
  return std::nullopt;
}

bool ModelConfig::scales(const char* key) {
  const Json* value = take(key);
  if (value == nullptr) return false;
  if (!value->is_number()) fail(path_, key, "E202", *value, "a number");
  return value->get<double>() != 1;
}

bool ModelConfig::flag(const char* key, bool otherwise) {
  const Json* value = take(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail(path_, key, "E206", *value, "true, false");
  return value->get<bool>();
}

std::string ModelConfig::text(Keys keys) {
  std::string first;
  for (const char* key : keys) {
    const Json* value = take(key);
    if (value == nullptr || !first.empty()) continue;
    if (!value->is_string()) fail(path_, key, "E206", *value, "a word");
    first = value->get<std::string>();
  }
  return first;
}

const Json& ModelConfig::list(const char* key, const char* of) {
  static const Json kNone = Json::array();
  const Json* value = take(key);
  if (value == nullptr) return kNone;
  if (!value->is_array()) fail(path_, key, "E206", *value, fmt::format("a list of {}", of));
  return *value;
}

std::vector<std::string> ModelConfig::words(const char* key) {
  std::vector<std::string> words;
  for (const Json& entry : list(key, "words")) {
    if (!entry.is_string()) fail(path_, key, "E206", entry, "a word");
    words.push_back(entry.get<std::string>());
  }
  return words;
}

std::vector<std::uint32_t> ModelConfig::integers(const char* key, std::uint64_t most) {
  std::vector<std::uint32_t> integers;
  for (const Json& entry : list(key, "integers")) {
    integers.push_back(whole(path_, key, entry, 0, most - 1));
  }
  return integers;
}

const Json& ModelConfig::object(const char* key) {
  const Json* value = take(key);
  if (value == nullptr || !value->is_object()) refuse(key, "", "an object");
  return *value;
}

void ModelConfig::read(Keys keys) {
  for (const char* key : keys) take(key);
}

void ModelConfig::neutral(std::initializer_list<std::pair<const char*, std::string>> keys) {
  for (const auto& [key, neutral] : keys) {
    const Json* value = take(key);
    if (value == nullptr || *value == Json::parse(neutral)) continue;
    fail(path_, key, "E214", *value, fmt::format("{} or no such key", neutral));
  }
}

void ModelConfig::refuse(const char* key, const std::string& why,
                         const std::string& allowed) const {
  const Json* value = find(key);
  std::string found = value == nullptr ? "" : shown(*value);
  if (!why.empty()) found += fmt::format("{}({})", found.empty() ? "" : " ", why);
  throw_diagnostic(place_of(path_, key), "E214", found, allowed);
}

std::vector<std::string> ModelConfig::unread() const {
  std::set<std::string> keys;
  for (const Json* json : {&inner_, &outer_}) {
    for (const auto& [key, value] : json->items()) {
      const bool known = value.is_null() || &value == &inner_ || read_.count(key) != 0 ||
                         skipped_.count(key) != 0 || contains(idle_keys(), key);
      if (!known) keys.insert(key);
    }
  }
  return {keys.begin(), keys.end()};
}

void ModelConfig::finish(const std::string& type) const {
  const std::vector<std::string> keys = unread();
  if (keys.empty()) return;
  const std::vector<std::string> known(read_.begin(), read_.end());
  throw_diagnostic({place_of(path_, keys.front().c_str()), "E207", "",
                    keys.size() == 1 ? keys.front() : listed(keys),
                    fmt::format("keys that are known of {}; --skip {} leaves out what changes no "
                                "shape, count or arithmetic",
                                type, fmt::join(keys, ",")),
                    nearest(keys.front(), known)});
}

}  // namespace lacuna

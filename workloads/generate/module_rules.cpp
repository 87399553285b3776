// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/module_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

/// What makers call the weights of a layer.
struct Names {
  const char* layers;
  std::array<const char*, 4> attention;  // queries, keys, values, and the product after them
  const char* block;
  std::array<const char*, 3> parts;  // of a block: gate, up or the first, down
  const char* head;
  const char* table;
};

const Names& names_of(const ModelShape& shape) {
  static const std::array<Names, 7> kNames = {{
      {"bert.encoder.layer",
       {"attention.self.query", "attention.self.key", "attention.self.value",
        "attention.output.dense"},
       "",
       {"", "intermediate.dense", "output.dense"},
       "",
       ""},
      {"model.decoder.layers",
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"},
       "",
       {"", "fc1", "fc2"},
       "lm_head",
       "model.decoder.embed_tokens"},
      {"model.layers",
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"},
       "mlp.",
       {"gate_proj", "up_proj", "down_proj"},
       "lm_head",
       "model.embed_tokens"},
      {"model.layers",
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"},
       "block_sparse_moe.",
       {"w1", "w3", "w2"},
       "lm_head",
       "model.embed_tokens"},
      {"model.layers",
       {"self_attn.qkv_proj", "self_attn.qkv_proj", "self_attn.qkv_proj", "self_attn.o_proj"},
       "mlp.",
       {"gate_up_proj", "gate_up_proj", "down_proj"},
       "lm_head",
       "model.embed_tokens"},
      {"transformer.h",
       {"attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj"},
       "mlp.",
       {"", "c_fc", "c_proj"},
       "lm_head",
       "transformer.wte"},
      {"gpt_neox.layers",
       {"attention.query_key_value", "attention.query_key_value", "attention.query_key_value",
        "attention.dense"},
       "mlp.",
       {"", "dense_h_to_4h", "dense_4h_to_h"},
       "embed_out",
       "gpt_neox.embed_in"},
  }};
  return kNames.at(static_cast<std::size_t>(shape.names) - 1);
}

/// Rows `first` to `first` + `count` of every `period`.
std::string rows_of(std::uint32_t first, std::uint32_t count, std::uint32_t period) {
  return fmt::format("[{}:{}/{}]", first, first + count, period);
}

/// Makers may put the products of a layer that read the same together. Those of GPT-2 have a row
/// for each input, those of GPT-NeoX stand together head by head.
class ModuleNames {
 public:
  explicit ModuleNames(const ModelShape& shape) : shape_(shape), names_(names_of(shape)) {}

  void add_layer(std::uint32_t layer) {
    const std::string row = fmt::format("l{}.", layer);
    const std::string module = fmt::format("{}.{}.", names_.layers, layer);
    add_attention(row, module);
    const ExpertShape& experts = shape_.experts;
    const std::string block = module + names_.block;
    if (!shape_.has_experts(layer)) return add_block(row, block, shape_.ffn);
    for (std::uint32_t e = 0; e < experts.count; ++e) {
      add_block(fmt::format("{}e{}.", row, e), fmt::format("{}experts.{}.", block, e), experts.ffn);
    }
    if (experts.shared != 0) {
      add_block(row + "shared.", block + "shared_expert.", experts.shared);
    }
  }

  void add_head() {
    if (*names_.head == '\0') return;
    add("head.out", names_.head, shape_.vocabulary, shape_.width);
    all_.back().part.clear();
    if (shape_.tied) all_.back().table = names_.table;
  }

  std::vector<ModuleName> take() { return std::move(all_); }

 private:
  bool has(WeightNames names) const { return shape_.names == names; }

  void add(const std::string& row, const std::string& module, std::uint32_t m, std::uint32_t k) {
    all_.push_back({row, module, m, k, m, has(WeightNames::gpt2) ? ".T" : ""});
  }

  /// Of the last weight: rows of a tensor of `all` rows.
  void is_part(std::uint32_t first, std::uint32_t period, std::uint32_t all) {
    ModuleName& last = all_.back();
    last.all = all;
    last.part += rows_of(first, last.m / (all / period), period);
  }

  void add_attention(const std::string& row, const std::string& module) {
    const ModelShape& s = shape_;
    const std::array<std::uint32_t, 3> width = {s.query_width(), s.kv_width(), s.kv_width()};
    const std::uint32_t all = width[0] + width[1] + width[2];
    const std::uint32_t period = has(WeightNames::neox) ? 3 * s.head_width() : all;
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < width.size(); ++i) {
      add(row + "qkv"[i], module + names_.attention.at(i), width.at(i), s.width);
      if (names_.attention[0] == names_.attention[1]) is_part(first, period, all);
      first += has(WeightNames::neox) ? s.head_width() : width.at(i);
    }
    add(row + "o", module + names_.attention[3], s.width, s.query_width());
  }

  void add_block(const std::string& row, const std::string& module, std::uint32_t inner) {
    const bool both = has(WeightNames::phi3);
    if (shape_.gated) {
      add(row + "gate", module + names_.parts[0], inner, shape_.width);
      if (both) is_part(0, 2 * inner, 2 * inner);
    }
    add(row + (shape_.gated ? "up" : "ffn1"), module + names_.parts[1], inner, shape_.width);
    if (both) is_part(inner, 2 * inner, 2 * inner);
    add(row + "ffn2", module + names_.parts[2], shape_.width, inner);
  }

  const ModelShape& shape_;
  const Names& names_;
  std::vector<ModuleName> all_;
};

/// True if `module` or a module around it is what `target` says.
bool is_target(const std::string& target, const std::string& module) {
  if (target == "Linear") return true;
  const bool expression = starts_with(target, "re:");
  const std::regex regex(expression ? target.substr(3) : "");
  for (std::size_t end = module.size(); end != std::string::npos && end != 0;
       end = module.rfind('.', end - 1)) {
    const std::string name = module.substr(0, end);
    const bool same = expression
                          ? std::regex_search(name, regex, std::regex_constants::match_continuous)
                          : name == target;
    if (same) return true;
  }
  return false;
}

bool is_any(const std::vector<std::string>& targets, const std::string& module) {
  const std::string weight = module + ".weight";  // older recipes name parameters
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    return is_target(target, module) || is_target(target, weight);
  });
}

}  // namespace

std::string pattern_of_sparsity(const std::string& structure, std::optional<double> sparsity) {
  const std::size_t colon = structure.find(':');
  const bool share = sparsity && *sparsity >= 0 && *sparsity <= 1;
  if (structure == "unstructured" || structure == "0:0") {
    return share ? fmt::format("unstructured:{:.9g}", 1 - *sparsity) : "";
  }
  constexpr std::uint64_t kMost = 65536;
  if (colon == std::string::npos) return "";
  const std::uint64_t n = parse_integer(structure.substr(0, colon), 1, kMost).value_or(kMost);
  const std::uint64_t m = parse_integer(structure.substr(colon + 1), 1, kMost).value_or(0);
  if (n >= m) return "";
  constexpr double kNear = 1e-6;
  const auto is_share_of = [&](std::uint64_t zeros) {
    const double of = static_cast<double>(zeros) / static_cast<double>(m);
    return sparsity && std::abs(*sparsity - of) < kNear;
  };
  if (2 * n == m || is_share_of(m - n)) return structure;
  return is_share_of(n) ? fmt::format("{}:{}", m - n, m) : "";
}

std::vector<ModuleName> module_names(const ModelShape& shape, std::uint32_t layers) {
  if (shape.names == WeightNames::none) return {};
  ModuleNames names(shape);
  for (std::uint32_t l = 0; l < std::min(layers, shape.layers); ++l) names.add_layer(l);
  names.add_head();
  return names.take();
}

std::vector<PatternRule> rules_of(const ModuleRule& rule, const ModelShape& shape,
                                  std::uint32_t layers, const std::string& where) {
  std::vector<PatternRule> rules;
  try {
    for (const ModuleName& name : module_names(shape, layers)) {
      if (!rule.targets.empty() && !is_any(rule.targets, name.module)) continue;
      if (is_any(rule.ignored, name.module)) continue;
      rules.push_back(parse_rule(name.row + "=" + rule.pattern));
      rules.back().used = true;  // experts that no token takes have no row
    }
  } catch (const std::regex_error& error) {
    refuse_request("{}: a target is no regular expression: {}", where, error.what());
  }
  if (!rules.empty()) return rules;
  refuse_request(
      "{}: its targets are no weights of {}; allowed: {}, or --sparse {}", where, shape.name,
      module_names(shape, 1).empty() ? "models whose weights have names here"
                                     : "names like " + module_names(shape, 1).front().module,
      "WHERE=PATTERN");
}

}  // namespace lacuna

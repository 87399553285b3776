// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/module_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "sim/base/error.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

struct Piece {
  const char* row;
  const char* module;
  std::uint32_t m;
  std::uint32_t k;
};

std::vector<Piece> attention_parts(const ModelShape& s) {
  const bool bert = s.family == ModelFamily::bert;
  const bool opt = s.family == ModelFamily::opt;
  return {{"q", bert ? "attention.self.query" : "self_attn.q_proj", s.query_width(), s.width},
          {"k", bert ? "attention.self.key" : "self_attn.k_proj", s.kv_width(), s.width},
          {"v", bert ? "attention.self.value" : "self_attn.v_proj", s.kv_width(), s.width},
          {"o",
           bert  ? "attention.output.dense"
           : opt ? "self_attn.out_proj"
                 : "self_attn.o_proj",
           s.width, s.query_width()}};
}

std::vector<Piece> block_parts(const ModelShape& s, std::uint32_t inner) {
  const bool bert = s.family == ModelFamily::bert;
  if (bert || s.family == ModelFamily::opt) {
    return {{"ffn1", bert ? "intermediate.dense" : "fc1", inner, s.width},
            {"ffn2", bert ? "output.dense" : "fc2", s.width, inner}};
  }
  return {{"gate", "gate_proj", inner, s.width},
          {"up", "up_proj", inner, s.width},
          {"ffn2", "down_proj", s.width, inner}};
}

const char* prefix_of(ModelFamily family) {
  if (family == ModelFamily::bert) return "bert.encoder.layer";
  return family == ModelFamily::opt ? "model.decoder.layers" : "model.layers";
}

void add_parts(const std::vector<Piece>& parts, const std::string& row, const std::string& module,
               std::vector<ModuleName>& names) {
  for (const Piece& part : parts) {
    names.push_back({row + "." + part.row, module + "." + part.module, part.m, part.k});
  }
}

void add_experts(const ModelShape& shape, const std::string& row, const std::string& module,
                 std::vector<ModuleName>& names) {
  const ExpertShape& experts = shape.experts;
  std::vector<Piece> parts = block_parts(shape, experts.ffn);
  if (experts.of_mixtral) {
    parts[0].module = "w1";
    parts[1].module = "w3";
    parts[2].module = "w2";
  }
  const std::string block = module + (experts.of_mixtral ? ".block_sparse_moe" : ".mlp");
  for (std::uint32_t e = 0; e < experts.count; ++e) {
    add_parts(parts, fmt::format("{}.e{}", row, e), fmt::format("{}.experts.{}", block, e), names);
  }
  if (experts.shared == 0) return;
  add_parts(block_parts(shape, experts.shared), row + ".shared", block + ".shared_expert", names);
}

/// True if `module` or a module around it is what `target` says.
bool is_target(const std::string& target, const std::string& module) {
  if (target == "Linear") return true;
  const bool expression = target.rfind("re:", 0) == 0;
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
    return share ? fmt::format("unstructured:{:.9f}", 1 - *sparsity) : "";
  }
  std::uint64_t n = 0;
  std::uint64_t m = 0;
  constexpr std::uint64_t kMost = 65536;
  const bool right = colon != std::string::npos &&
                     parse_integer(structure.substr(0, colon), 1, kMost, n) == IntegerError::none &&
                     parse_integer(structure.substr(colon + 1), 1, kMost, m) == IntegerError::none;
  if (!right || n >= m) return "";
  constexpr double kNear = 1e-6;
  const auto is_share_of = [&](std::uint64_t zeros) {
    const double of = static_cast<double>(zeros) / static_cast<double>(m);
    return sparsity && std::abs(*sparsity - of) < kNear;
  };
  if (2 * n == m || is_share_of(m - n)) return structure;
  return is_share_of(n) ? fmt::format("{}:{}", m - n, m) : "";
}

std::vector<ModuleName> module_names(const ModelShape& shape, std::uint32_t layers) {
  std::vector<ModuleName> names;
  const bool fused = shape.family == ModelFamily::gpt || shape.family == ModelFamily::group_bert ||
                     shape.fused_weights;
  for (std::uint32_t l = 0; !fused && l < std::min(layers, shape.layers); ++l) {
    const std::string row = fmt::format("l{}", l);
    const std::string module = fmt::format("{}.{}", prefix_of(shape.family), l);
    add_parts(attention_parts(shape), row, module, names);
    if (shape.has_experts(l)) {
      add_experts(shape, row, module, names);
    } else {
      const bool llama = shape.family == ModelFamily::llama;
      add_parts(block_parts(shape, shape.ffn), row, module + (llama ? ".mlp" : ""), names);
    }
  }
  return names;
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
    throw RequestError(
        fmt::format("{}: a target is no regular expression: {}", where, error.what()));
  }
  if (!rules.empty()) return rules;
  throw RequestError(fmt::format(
      "{}: its targets are no weights of {}; allowed: {}, or --sparse {}", where, shape.name,
      module_names(shape, 1).empty() ? "models whose weights are not put together"
                                     : "names like " + module_names(shape, 1).front().module,
      "WHERE=PATTERN"));
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/pattern_rules.hpp"

namespace lacuna {

/// A pattern for modules of a model, as pruning tools say it. A target or an exception is the name
/// of a module, "re:" and a regular expression of how names begin, or the class Linear. One of a
/// module is one of all that lies below it.
struct ModuleRule {
  std::string pattern;               // as on the command line: "2:4", "unstructured:0.5"
  std::vector<std::string> targets;  // none: all
  std::vector<std::string> ignored;
};

/// A weight of a model: "l3.ffn2", which the maker's weights call "model.layers.3.mlp.down_proj".
struct ModuleName {
  std::string row;
  std::string module;
  std::uint32_t m = 0;     // outputs
  std::uint32_t k = 0;     // inputs
  std::uint32_t all = 0;   // outputs of the module, of which those of the row may be a part
  std::string part = {};   // what of the module's tensor is this weight, as ArrayFile has it
  std::string table = {};  // the table of tokens, where its tensor is that of the module
};

/// Names of the weights of the first `layers` layers, and last of the product that gives logits;
/// empty of models whose weights no maker has named.
std::vector<ModuleName> module_names(const ModelShape& shape, std::uint32_t layers);

/// The rule for each weight that it is for. RequestError if it is for none, or if its regular
/// expression is none; `where` begins its message.
std::vector<PatternRule> rules_of(const ModuleRule& rule, const ModelShape& shape,
                                  std::uint32_t layers, const std::string& where);

/// The pattern of a structure, "N:M", "0:0" or "unstructured", and a share of zeros; empty if they
/// are none. Tools count zeros or kept weights with N: where these are not as many, the share says
/// which is meant.
std::string pattern_of_sparsity(const std::string& structure, std::optional<double> sparsity);

/// The rules of a recipe in YAML: what its SparseGPTModifier, WandaPruningModifier and
/// MagnitudePruningModifier prune; what they keep, train or quantise changes no zeros. TraceError
/// if another modifier prunes, or if none does.
std::vector<ModuleRule> read_recipe(const std::string& path);

}  // namespace lacuna

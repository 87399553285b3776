// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/texts.hpp"
#include "workloads/generate/module_rules.hpp"
#include "workloads/generate/yaml_text.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

class RecipeReader {
 public:
  explicit RecipeReader(std::string path) : path_(std::move(path)) {}

  std::vector<ModuleRule> read() {
    read_yaml(read_text_file(path_), path_, [&](const YAML::Node& root) { walk(root, 0); });
    if (!rules_.empty()) return std::move(rules_);
    throw_diagnostic(path_, "E001", "no modifier that prunes",
                     "SparseGPTModifier, WandaPruningModifier or MagnitudePruningModifier");
  }

 private:
  [[noreturn]] void fail(const YAML::Mark& mark, const char* code, const std::string& found,
                         const std::string& allowed) const {
    throw_diagnostic(place(path_, mark), code, found, allowed);
  }

  /// Modifiers stand below stages, or in lists.
  void walk(const YAML::Node& node, int depth) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest || (!node.IsMap() && !node.IsSequence())) return;
    if (node.IsSequence()) {
      for (const YAML::Node& each : node) {
        if (each.Tag().size() > 1 && each.Tag().front() == '!') take(each.Tag().substr(1), each);
        walk(each, depth + 1);
      }
      return;
    }
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (ends_with(name, "Modifier")) {
        take(name, entry.second);
      } else {
        walk(entry.second, depth + 1);
      }
    }
  }

  void take(const std::string& name, const YAML::Node& node) {
    static constexpr std::array<const char*, 3> kTaken = {
        "SparseGPTModifier", "WandaPruningModifier", "MagnitudePruningModifier"};
    if (contains(kTaken, name)) return prune(name, node);
    const bool prunes = name.find("Prun") != std::string::npos && name != "ConstantPruningModifier";
    if (prunes) {
      fail(node.Mark(), "E206", name,
           fmt::format("{}; lacuna trace schedule has what prunes step by step",
                       fmt::join(kTaken, ", ")));
    }
  }

  void prune(const std::string& name, const YAML::Node& node) {
    ModuleRule rule;
    std::string structure = "unstructured";
    std::optional<double> sparsity;
    for (const auto& entry : node) {
      const std::string key = entry.first.Scalar();
      const YAML::Node& value = entry.second;
      if (key == "sparsity") {
        sparsity = value.as<double>(-1);
        if (!(*sparsity >= 0)) {
          fail(value.Mark(), "E204",
               "sparsity " + (value.IsScalar() ? value.Scalar() : "as a list"),
               "a number from 0 to 1");
        }
      } else if (key == "mask_structure") {
        structure = value.Scalar();
      } else if (key == "targets" || key == "ignore") {
        (key == "targets" ? rule.targets : rule.ignored) = words(value);
      } else if (key == "sparsity_profile" && !value.IsNull()) {
        fail(value.Mark(), "E206", "sparsity_profile " + value.Scalar(), "one sparsity for all");
      }
    }
    rule.pattern = pattern_of_sparsity(structure, sparsity);
    if (rule.pattern.empty()) {
      fail(node.Mark(), "E205",
           sparsity ? fmt::format("{} of sparsity {}, {}", name, *sparsity, structure)
                    : name + " without a sparsity",
           "a sparsity from 0 to 1, which is N / M where a mask_structure says another N:M than "
           "2:4");
    }
    rules_.push_back(std::move(rule));
  }

  std::vector<std::string> words(const YAML::Node& node) const {
    std::vector<std::string> list;
    if (node.IsScalar()) list.push_back(node.Scalar());
    for (const YAML::Node& each : node) {
      if (!each.IsScalar()) fail(each.Mark(), "E206", "a list in a list", "a list of names");
      list.push_back(each.Scalar());
    }
    for (std::string& word : list) {
      if (word == "__ALL_PRUNABLE__" || word == "__ALL__") word = "Linear";
    }
    return list;
  }

  std::string path_;
  std::vector<ModuleRule> rules_;
};

}  // namespace

std::vector<ModuleRule> read_recipe(const std::string& path) { return RecipeReader(path).read(); }

}  // namespace lacuna

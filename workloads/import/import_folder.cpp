// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/generate/module_rules.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

/// A matrix of the weights, "FILE:TENSOR".
struct Tensor {
  std::string name;
  std::string file;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
};

/// What tools agree on in the names of weights: from the number of the layer on.
std::string tail_of(const std::string& name) {
  for (const std::string layers : {"layers.", "layer."}) {
    const std::size_t at = name.rfind(layers);
    if (at == 0 || (at != std::string::npos && name[at - 1] == '.')) return name.substr(at);
  }
  return name;
}

/// Files of weights: the shards of an index, or all there are.
std::vector<fs::path> weight_files(const std::string& folder) {
  const fs::path index = fs::path(folder) / "model.safetensors.index.json";
  std::vector<fs::path> files;
  if (fs::is_regular_file(index)) {
    PartFile text(index.string());
    for (const std::string& shard : shards_of(text)) files.push_back(fs::path(folder) / shard);
    return files;
  }
  bool pickled = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".safetensors") files.push_back(entry.path());
    pickled = pickled || ending == ".bin" || ending == ".pt" || ending == ".pth";
  }
  std::sort(files.begin(), files.end());
  if (!files.empty()) return files;
  throw RequestError(fmt::format(
      "{}: has no weights as safetensors{}; allowed: a folder with config.json and safetensors, or "
      "config.json alone",
      folder, pickled ? ", but pickled ones, which only a program may open" : ""));
}

/// All matrices but those of parts for pictures and sounds, by their tails.
std::multimap<std::string, Tensor> tensors_of(const std::string& folder) {
  std::multimap<std::string, Tensor> tensors;
  for (const fs::path& path : weight_files(folder)) {
    PartFile file(path.string());
    for (const ArrayEntry& entry : matrices_of(file)) {
      const auto has = [&](const char* word) {
        return entry.member.find(word) != std::string::npos;
      };
      if (has("vision") || has("visual") || has("audio")) continue;
      tensors.emplace(tail_of(entry.member),
                      Tensor{entry.member, path.string(), entry.rows, entry.cols});
    }
  }
  return tensors;
}

const Tensor& tensor_for(const ModuleName& name, const std::string& folder,
                         const std::multimap<std::string, Tensor>& tensors) {
  const std::string tail = tail_of(name.module + ".weight");
  const auto [first, last] = tensors.equal_range(tail);
  const std::string where = fmt::format("{}: weights of {}", folder, name.row);
  if (first == last) {
    std::vector<std::string> tails;
    for (const auto& [each, tensor] : tensors) tails.push_back(each);
    throw_problem({where, "E101", "", "no matrix that is called so", name.module + ".weight",
                   nearest(tail, tails)});
  }
  if (std::next(first) != last) {
    throw_problem({where, "E209", "",
                   fmt::format("{} and {}", first->second.name, std::next(first)->second.name),
                   "one of them", ""});
  }
  const Tensor& tensor = first->second;
  if (tensor.rows != name.m || tensor.cols != name.k) {
    throw_problem(
        {where, "E211", "", fmt::format("{} x {}", tensor.rows, tensor.cols),
         fmt::format("{} x {}, outputs and inputs, as config.json has it", name.m, name.k), ""});
  }
  return tensor;
}

/// The settings without those of the importer and of pruning, which is said for each weight.
Pairs of_the_model(const Pairs& settings) {
  Pairs kept;
  for (const auto& pair : settings) {
    static const std::set<std::string> kOwn = {"skip",    "prune", "density",
                                               "pattern", "block", "nm"};
    if (kOwn.count(pair.first) == 0) kept.push_back(pair);
  }
  return kept;
}

}  // namespace

void import_folder(const ImportFile& folder, ImportContext& context, const Pairs& settings) {
  const std::string config = (fs::path(folder.path) / "config.json").string();
  if (!fs::is_regular_file(config)) {
    throw RequestError(fmt::format(
        "{}: is a folder without config.json; allowed: a model's folder, or files", folder.path));
  }
  const std::optional<PatternSpec> pruning = pruning_of(context, folder.path);
  ModelFile model = read_config(config, read_text_file(config), context, settings);
  model.shape.name = context.new_id(folder.stem());
  std::vector<std::string>& notes = context.result.notes;
  const bool says_zeros =
      !model.sparsity.empty() || fs::exists(fs::path(folder.path) / "recipe.yaml");
  if (says_zeros) notes.emplace_back("what is said of zeros beside the weights is not used");
  std::uint32_t layers = model.shape.layers;
  context.settings().integer("layers", 1, layers);
  const std::vector<ModuleName> names = module_names(model.shape, layers);
  if (names.empty()) {
    throw RequestError(fmt::format(
        "{}: weights of {} have queries, keys and values in one matrix, which is not cut here; "
        "allowed: models with a matrix for each",
        folder.path, model.type));
  }
  const std::multimap<std::string, Tensor> tensors = tensors_of(folder.path);
  std::vector<PatternRule> rules;
  std::uint64_t kept = 0;
  std::uint64_t all = 0;
  for (const ModuleName& name : names) {
    const Tensor& tensor = tensor_for(name, folder.path, tensors);
    PartFile file(tensor.file);
    const Mask mask = read_array(file, tensor.name).mask;
    const std::string array = name_of_array(tensor.file, tensor.name);
    rules.push_back({name.row, given_pattern(array, mask, pruning, name.row, context), true});
    kept += mask.columns.size();
    all += tensor.rows * tensor.cols;
  }
  if (!pruning) {
    constexpr double kPercent = 100;
    notes.push_back(fmt::format("{:.4g} % of the {} weights of {} layers are kept",
                                kPercent * static_cast<double>(kept) / static_cast<double>(all),
                                all, layers));
  }
  add_model(model, of_the_model(settings), rules, context);
}

}  // namespace lacuna

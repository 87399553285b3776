// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/texts.hpp"
#include "workloads/generate/module_rules.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/import/model_file.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

/// A matrix of the weights, and the file that has it.
struct Tensor {
  std::string name;
  const ArrayFile* file;
};
using FoundTensors = std::multimap<std::string, Tensor>;  // by the tails of their names

/// What tools agree on in the names of weights: from the number of the layer on, or the last word
/// before "weight".
std::string tail_of(const std::string& name) {
  for (const std::string layers : {"layers.", "layer.", "h."}) {
    const std::size_t at = name.rfind(layers);
    if (at == 0 || (at != std::string::npos && name[at - 1] == '.')) return name.substr(at);
  }
  const std::size_t last = name.rfind('.');
  const std::size_t before = last == std::string::npos ? last : name.rfind('.', last - 1);
  return before == std::string::npos ? name : name.substr(before + 1);
}

/// Files of weights: the shards of an index, or all there are.
std::vector<fs::path> weight_files(const std::string& folder) {
  const fs::path index = fs::path(folder) / "model.safetensors.index.json";
  std::vector<fs::path> files;
  if (fs::is_regular_file(index)) {
    for (const std::string& shard : ArrayFile::required(index.string())->shards()) {
      files.emplace_back(shard);
    }
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
  refuse_request(
      "{}: has no weights as safetensors{}; allowed: a folder with config.json and safetensors, or "
      "config.json alone",
      folder, pickled ? ", but pickled ones, which only a program may open" : "");
}

/// All matrices but those of parts for pictures and sounds.
FoundTensors tensors_of(const std::vector<std::unique_ptr<ArrayFile>>& files) {
  FoundTensors tensors;
  for (const auto& file : files) {
    for (const ArrayEntry& entry : file->matrices()) {
      const auto has = [&](const char* word) {
        return entry.member.find(word) != std::string::npos;
      };
      if (has("vision") || has("visual") || has("audio")) continue;
      tensors.emplace(tail_of(entry.member), Tensor{entry.member, file.get()});
    }
  }
  return tensors;
}

/// The tensor of a weight, with what of it the weight is behind its name.
Tensor tensor_for(const ModuleName& name, const std::string& folder, const FoundTensors& tensors) {
  const std::string whole = (name.table.empty() ? name.module : name.table) + ".weight";
  const std::string tail = tail_of(whole);
  const auto [first, last] = tensors.equal_range(tail);
  const std::string where = fmt::format("{}: weights of {}", folder, name.row);
  if (first == last) {
    std::vector<std::string> tails;
    for (const auto& [each, tensor] : tensors) tails.push_back(each);
    throw_diagnostic(
        {where, "E101", "", "no matrix that is called so", whole, nearest(tail, tails)});
  }
  if (std::next(first) != last) {
    throw_diagnostic(where, "E209",
                     fmt::format("{} and {}", first->second.name, std::next(first)->second.name),
                     "one of them");
  }
  Tensor tensor = first->second;
  const std::string turned = starts_with(name.part, ".T") ? ".T" : "";
  const ArrayEntry sides = tensor.file->sides(tensor.name + turned);
  if (sides.rows != name.all || sides.cols != name.k) {
    throw_diagnostic(
        where, "E211", fmt::format("{} x {}", sides.rows, sides.cols),
        fmt::format("{} x {}, outputs and inputs, as config.json has it", name.all, name.k));
  }
  tensor.name += name.part;
  return tensor;
}

}  // namespace

void import_folder(const ImportFile& folder, ImportContext& context) {
  const std::string config = (fs::path(folder.path) / "config.json").string();
  if (!fs::is_regular_file(config)) {
    refuse_request("{}: is a folder without config.json; allowed: a model's folder, or files",
                   folder.path);
  }
  const std::optional<PatternSpec> pruning = pruning_of(context, folder.path);
  ModelFile model = read_config(config, read_text_file(config), context);
  model.shape.name = context.new_id(folder.stem());
  const bool says_zeros =
      !model.sparsity.empty() || fs::exists(fs::path(folder.path) / "recipe.yaml");
  if (says_zeros) context.note("what is said of zeros beside the weights is not used");
  std::uint32_t layers = model.shape.layers;
  context.settings.integer("layers", 1, layers);
  bool heads = false;
  context.settings.flag("heads", heads);
  const std::vector<ModuleName> names = module_names(model.shape, layers);
  if (names.empty()) {
    refuse_request(
        "{}: what the weights of {} are called in files is not known; allowed: config.json alone",
        folder.path, model.type);
  }
  std::vector<std::unique_ptr<ArrayFile>> files;
  for (const fs::path& path : weight_files(folder.path)) {
    files.push_back(ArrayFile::required(path.string()));
  }
  const FoundTensors tensors = tensors_of(files);
  std::vector<PatternRule> rules;
  std::uint64_t kept = 0;
  std::uint64_t all = 0;
  for (const ModuleName& name : names) {
    if (name.row == "head.out" && !heads) continue;
    const Tensor tensor = tensor_for(name, folder.path, tensors);
    const Mask mask = tensor.file->mask(tensor.name);
    const std::string array = name_of_array(tensor.file->path(), tensor.name);
    rules.push_back({name.row, given_pattern(array, mask, pruning, name.row, context), true});
    kept += mask.columns.size();
    all += std::uint64_t{mask.rows} * mask.cols;
  }
  if (heads && names.back().row != "head.out") {
    context.note("what the weights of the head are called is not known: they are dense here");
  }
  if (!pruning) {
    constexpr double kPercent = 100;
    context.note("{:.4g} % of the {} weights of {} layers are kept",
                 kPercent * static_cast<double>(kept) / static_cast<double>(all), all, layers);
  }
  // patterns are said for each weight
  add_model(model, context.model_settings({"density", "pattern", "block", "nm"}), rules, context);
}

}  // namespace lacuna

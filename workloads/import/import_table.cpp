// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/import_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/import/detect.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

std::vector<std::string> model_keys() {
  std::vector<std::string> keys;
  for (const GeneratorKey& key : generator_keys()) {
    const bool own =
        key.name == "size" || key.name == "dtype" || key.name == "mode" || key.name == "residency";
    if (key.of_models && !own) keys.push_back(key.name);
  }
  return keys;
}

std::vector<std::string> models_and(const std::vector<std::string>& more) {
  std::vector<std::string> keys = model_keys();
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

void check_keys(const ImportFormat& format, const Pairs& settings) {
  std::vector<std::string> keys = format.keys;
  for (const char* common : {"format", "dtype", "mode", "residency"}) keys.emplace_back(common);
  for (const auto& [key, value] : settings) {
    if (!contains(keys, key)) {
      refuse_request("--{}: the format {} does not take it; it takes --{}{}", key, format.name,
                     fmt::join(keys, ", --"), hint_of(key, keys));
    }
    const bool repeatable = key == "sparse" || key == "dim";
    if (!repeatable && find_value(settings, key) != &value) {
      refuse_request("--{} is given twice", key);
    }
  }
}

const ImportFormat& find_format(const std::string& name) {
  return named_in(import_formats(), name, "--format: found '{}'; allowed: {}{}");
}

}  // namespace

const std::vector<ImportKey>& import_keys() {
  static const std::vector<ImportKey> kKeys = {
      {"format", "a name", "the format, where the content fits several or none"},
      {"n", "integer", "columns of X, for formats that hold weights alone"},
      {"batch-sizes", "FILE", "smtx: lines NAME,N that say n for each name"},
      {"densities", "FILE", "timeloop: lines NAME,W,X,Y with the densities of rows"},
      {"scalesim-config", "FILE", "scalesim: the .cfg that goes with the topology"},
      {"model", "a model", "requests: the model that serves them"},
      {"ranks", "integer", "chakra: chips of a collective, where the file does not say"},
      {"comm-size", "integer", "chakra: bytes of a collective without comm_size"},
      {"drop-missing", "0, 1", "chakra: leave out dependencies on nodes that are not there"},
      {"collectives", "refuse, keep or drop",
       "chakra: collectives and transfers between chips, which systems alone run; default refuse"},
      {"dim", "NAME=N", "onnx: the size of a dimension that has a name; repeatable"},
      {"skip", "A,B,...", "onnx: operators to leave out; config: keys to leave out"},
      {"member", "a name", "npy, safetensors: the array of a file that holds several"},
      {"prune", "0, 1",
       "npy, safetensors: leave out more, the smallest weights, to the --density that is given"},
  };
  return kKeys;
}

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> kFormats = {
      {"smtx", import_matrix, "masks of the Deep Learning Matrix Collection", {"n", "batch-sizes"}},
      {"mtx", import_matrix, "Matrix Market", {"n", "batch-sizes"}},
      {"config", import_model_config, "config.json of a transformer, as Hugging Face has it",
       models_and({"skip"})},
      {"folder", import_folder,
       "folder of a model: config.json and its weights as safetensors, whose zeros are kept",
       models_and({"skip", "prune"})},
      {"scalesim-gemm", import_scalesim_gemm, "SCALE-Sim GEMM topology", {"scalesim-config"}},
      {"scalesim-conv",
       import_scalesim_conv,
       "SCALE-Sim convolution topology",
       {"scalesim-config"}},
      {"onnx", import_onnx, "ONNX graph", {"dim", "skip"}},
      {"timeloop", import_timeloop, "Timeloop layer shapes", {"densities"}},
      {"stonne", import_stonne, "STONNE command lines", {}},
      {"chakra-json",
       import_chakra_json,
       "Chakra execution trace as JSON",
       {"ranks", "comm-size", "drop-missing", "collectives"}},
      {"chakra",
       import_chakra,
       "Chakra execution trace, protobuf",
       {"ranks", "comm-size", "drop-missing", "collectives"}},
      {"npy",
       import_matrix,
       "masks or weights of NumPy and SciPy: .npy, .npz",
       {"n", "density", "pattern", "block", "member", "prune"}},
      {"safetensors",
       import_matrix,
       "matrices of a file of weights, or of an index of shards",
       {"n", "density", "pattern", "block", "member", "prune"}},
      {"requests", import_requests,
       "requests to a language model: of Lacuna, Azure, vidur, Mooncake, BurstGPT, LLMServingSim, "
       "ONNXim",
       models_and({"model"})},
  };
  return kFormats;
}

namespace {

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// That of the content; files of arrays have not been read.
std::string format_of(const ImportFile& file) {
  if (is_folder(file.path)) return "folder";
  const auto arrays = ArrayFile::open(split_array_name(file.path).file);
  if (arrays == nullptr) return detect_format(file.text, file.path);
  return arrays->holds_tensors() ? "safetensors" : "npy";
}

Imported import_files(const std::vector<ImportFile>& files, const Pairs& settings) {
  ImportContext context(settings);
  const Settings& read = context.settings;
  const std::string* given = read.text("format");
  std::string name = given == nullptr ? "" : find_format(*given).name;
  for (const ImportFile& file : files) {
    const std::string found = given == nullptr ? format_of(file) : name;
    if (name.empty()) name = found;
    if (found != name) {
      refuse_request("{}: found format {}; allowed: that of the first file, {}", file.path, found,
                     name);
    }
    const ImportFormat& format = find_format(name);
    if (&file == &files.front()) check_keys(format, settings);
    const std::size_t rows = context.result.trace.ops.size();
    format.read(file, context);
    if (context.result.trace.ops.size() == rows) {
      throw_diagnostic(file.path, "E001", fmt::format("no row of format {}", name), "at least one");
    }
  }
  if (const std::string* densities = read.text("densities")) apply_densities(*densities, context);
  read.settle_weights(context.result.trace);
  context.result.trace.name = files.front().stem();
  return std::move(context.result);
}

}  // namespace

Imported import_workload(const std::vector<std::string>& paths, const Pairs& settings) {
  std::vector<ImportFile> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) {
    const bool parts = is_folder(path) || ArrayFile::open(split_array_name(path).file) != nullptr;
    files.push_back({path, parts ? "" : read_text_file(path)});
  }
  return import_files(files, settings);
}

Imported import_text(const std::string& text, const std::string& path, const Pairs& settings) {
  return import_files({{path, text}}, settings);
}

}  // namespace lacuna

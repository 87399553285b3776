// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/generate/pattern_rules.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/import/imported.hpp"
#include "workloads/import/model_file.hpp"

namespace lacuna {

/// What importers share: settings, the rows so far, and names that are unique.
class ImportContext {
 public:
  explicit ImportContext(const Pairs& pairs);

  /// The settings that are the generator's of a model, without these.
  Pairs model_settings(const std::set<std::string>& without = {}) const;

  /// An id from a foreign name: what is not allowed becomes '_', a name that is taken gets ".2".
  std::string new_id(std::string_view name);

  /// Appends a row with the dtype and mode of the request and an id made of `name`.
  LayerOp& add(std::string_view name, const std::string& op);

  /// Appends the rows of a trace.
  void append(WorkloadTrace trace) {
    for (LayerOp& row : trace.ops) result.trace.ops.push_back(std::move(row));
  }

  /// A product of sizes as the side of a matrix. TraceError with `where` if it is none.
  static std::uint32_t side(const std::vector<std::uint64_t>& sizes, const std::string& where,
                            const char* what);

  /// What a reader of the trace should know, and what looks wrong and was read all the same.
  template <class... Parts>
  void note(fmt::format_string<Parts...> text, Parts&&... parts) {
    result.notes.push_back(fmt::format(text, std::forward<Parts>(parts)...));
  }
  template <class... Parts>
  void warn(fmt::format_string<Parts...> text, Parts&&... parts) {
    result.warnings.push_back(fmt::format(text, std::forward<Parts>(parts)...));
  }

  Imported result;
  const Settings settings;
  /// The element size of the request, bytes.
  unsigned element() const;

 private:
  const Pairs& pairs_;
  DType dtype_ = DType::fp16;
  Mode mode_ = Mode::automatic;
  std::set<std::string> ids_;
};

/// A file to import.
struct ImportFile {
  std::string path;
  std::string text;  // empty of files of arrays, which are read by pieces

  /// "path", its file name without folder and extension; of a folder its name.
  std::string stem() const;
};

/// The readers, one for each format.
void import_matrix(const ImportFile& file, ImportContext& context);
void import_model_config(const ImportFile& file, ImportContext& context);
void import_requests(const ImportFile& file, ImportContext& context);
void import_scalesim_gemm(const ImportFile& file, ImportContext& context);
void import_scalesim_conv(const ImportFile& file, ImportContext& context);
void import_timeloop(const ImportFile& file, ImportContext& context);
void import_stonne(const ImportFile& file, ImportContext& context);
void import_chakra_json(const ImportFile& file, ImportContext& context);
void import_chakra(const ImportFile& file, ImportContext& context);
void import_onnx(const ImportFile& file, ImportContext& context);

/// A model's folder.
void import_folder(const ImportFile& folder, ImportContext& context);

/// Pruning of given weights, if --prune asks for it. RequestError if a density stands without it,
/// which would be another mask than that of the weights.
std::optional<PatternSpec> pruning_of(const ImportContext& context, const std::string& path);

/// "FILE:MEMBER", if it can be read again so; else RequestError.
std::string name_of_array(const std::string& path, const std::string& member);

/// The pattern of given weights, which `name_of_array` names: the mask that they have, or how they
/// are pruned. A note says of `row` what order the zeros have.
PatternSpec given_pattern(const std::string& name, const Mask& mask,
                          const std::optional<PatternSpec>& pruning, const std::string& row,
                          ImportContext& context);

/// Reads a config.json, without the keys of the setting `skip`; notes say what of it is no row.
ModelFile read_config(const std::string& path, const std::string& text, ImportContext& context);

/// Appends the rows of a model, with `rules` for its weights.
void add_model(const ModelFile& model, const Pairs& settings, const std::vector<PatternRule>& rules,
               ImportContext& context);

/// Says which share of weights and inputs is there, each drawn by itself; 1 is dense.
void set_densities(LayerOp& row, const Decimal& weights, const Decimal& inputs);

/// A convolution, whatever file says it.
struct Convolution {
  std::uint64_t filters = 1;   // of a group
  std::uint64_t channels = 1;  // of a group
  std::uint64_t groups = 1;
  std::uint64_t images = 1;
  std::vector<std::uint64_t> kernel;  // sides of a filter,
  std::vector<std::uint64_t> inputs;  // of an image
  std::vector<std::uint64_t> outputs;
};

/// Makes `row` the product of the filters and the unrolled images. If filters overlap it says how
/// many inputs there are, since an input is read once.
void set_convolution(const Convolution& convolution, const std::string& where, LayerOp& row);

/// The weight and activation densities of a file `name, weight, input, output` in percent of one,
/// for the rows of the same names.
void apply_densities(const std::string& path, ImportContext& context);

/// "N:M" kept weights, the first of each group, as SCALE-Sim has it.
PatternSpec first_of_group(std::string_view text, const std::string& where, const char* column);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/driver/command/describe_pages.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/generate/model_shape.hpp"

namespace lacuna {

namespace {

std::string count_cell(std::uint64_t value) { return value == 0 ? "" : fmt::format("{}", value); }

/// "8 of 128" or nothing.
std::string experts_text(const ModelShape& model) {
  if (model.experts.count == 0) return "";
  return fmt::format("{} of {}", model.experts.chosen, model.experts.count);
}

std::vector<std::string> cells_of(const ModelShape& model) {
  return {model.name,
          count_cell(model.layers),
          count_cell(model.width),
          count_cell(model.heads),
          count_cell(model.kv_heads),
          count_cell(model.head_width()),
          count_cell(model.experts.count == 0 ? model.ffn : model.experts.ffn),
          experts_text(model),
          count_cell(model.vocabulary),
          count_cell(model.positions)};
}

std::string table_of(const std::vector<ModelShape>& models, const Options& options) {
  TextTable table({"model<"});
  for (const char* const title : {"layers", "width", "heads", "kv heads", "head", "feed-forward",
                                  "experts", "vocabulary", "positions"}) {
    table.column(title, "");
  }
  for (const ModelShape& model : models) table.row(cells_of(model));
  return shown(table, options);
}

}  // namespace

std::string models_text(const Options& options) {
  const std::string head = options.markdown
                               ? "# Models\n\nMade by `lacuna describe models --markdown`; do not "
                                 "edit.\n\n"
                               : "Models of --model NAME and of trace make NAME\n\n";
  return head + table_of(model_shapes(), options);
}

std::string model_text(const std::string& name, const Options& options) {
  for (const ModelShape& model : model_shapes()) {
    if (model.name != name) continue;
    const bool encoder =
        model.family == ModelFamily::bert || model.family == ModelFamily::group_bert;
    return fmt::format("{}: of the family {}, {}\n  source: {}\n\n{}", name,
                       family_name(model.family),
                       encoder ? "an encoder: lacuna trace make has its rows"
                               : "a decoder: lacuna run --model and lacuna trace make take it",
                       model.source, table_of({model}, options));
  }
  return "";
}

}  // namespace lacuna

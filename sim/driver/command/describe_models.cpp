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

TextTable table_of(const std::vector<ModelShape>& models) {
  TextTable table({"model<"});
  for (const char* const title : {"layers", "width", "heads", "kv heads", "head", "feed-forward",
                                  "experts", "vocabulary", "positions"}) {
    table.column(title, "");
  }
  for (const ModelShape& model : models) table.row(cells_of(model));
  return table;
}

}  // namespace

TextPage models_page() {
  TextPage page("Models", "", "Models of --model NAME and of trace make NAME\n");
  page.table(table_of(model_shapes()));
  return page;
}

TextPage model_page(const ModelShape& model) {
  const bool encoder = model.family == ModelFamily::bert || model.family == ModelFamily::group_bert;
  TextPage page;
  page.text(fmt::format("{}: of the family {}, {}\n  source: {}", model.name,
                        family_name(model.family),
                        encoder ? "an encoder: lacuna trace make has its rows"
                                : "a decoder: lacuna run --model and lacuna trace make take it",
                        model.source));
  return page.table(table_of({model}));
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/trace_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "models/sparsity/pattern.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/trace_columns.hpp"

namespace lacuna {
namespace {

using RowTexts = std::array<std::string, kColumns>;

std::string number(std::uint64_t value, std::uint64_t otherwise) {
  return value == otherwise ? "" : std::to_string(value);
}

std::string joined(const Pairs& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    if (!text.empty()) text += ';';
    text += fmt::format("{}={}", key, value);
  }
  return text;
}

std::string dependencies(const LayerOp& op, const std::string& previous) {
  if (op.depends_on.empty()) return previous.empty() ? "" : "-";
  if (op.depends_on == std::vector<std::string>{previous}) return "";
  return fmt::format("{}", fmt::join(op.depends_on, ";"));
}

class Row {
 public:
  Row(const LayerOp& op, const std::string& previous, const std::string& folder) : folder_(folder) {
    set(Column::id, op.id);
    set(Column::op, op.op);
    set(Column::model, op.model);
    set(Column::layer, op.layer);
    set(Column::phase, word(op.phase));
    set(Column::m, number(op.m, 0));
    set(Column::k, number(op.k, 0));
    set(Column::n, number(op.n, 0));
    set(Column::batch, number(op.batch, 1));
    set(Column::repeat, number(op.repeat, 1));
    set(Column::dtype, word(op.dtype));
    if (op.partials != Partials::automatic) set(Column::partials, word(op.partials));
    if (op.mode != Mode::automatic) set(Column::mode, word(op.mode));
    if (op.residency != Residency::automatic) set(Column::residency, word(op.residency));
    set_pattern(op);
    // The default of embed depends on the phase.
    if (op.op == "embed" || op.fn != kind_of(op).default_function) set(Column::fn, op.fn);
    set(Column::args, joined(op.args));
    set(Column::stage, number(op.stage, 0));
    set(Column::depends_on, dependencies(op, previous));
  }

  const RowTexts& cells() const { return cells_; }

 private:
  void set(Column column, std::string text) {
    cells_.at(static_cast<std::size_t>(column)) = std::move(text);
  }

  void set_pattern(const LayerOp& op) {
    const PatternSpec& spec = op.pattern;
    if (spec.name != "dense") set(Column::pattern, spec.name);
    if (spec.density && spec.name != "dense") set(Column::density, spec.density->text());
    if (spec.block_rows != spec.block_cols) {
      set(Column::block, fmt::format("{}x{}", spec.block_rows, spec.block_cols));
    } else {
      // blocks of one element are said too: without a side the pattern is refused
      set(Column::block, number(spec.block_rows, spec.name == "block" ? 0 : 1));
    }
    set(Column::pattern_file, from_folder(spec.file));
    if (op.seed) set(Column::seed, std::to_string(*op.seed));
    PatternSpec named = spec;
    const std::string weights = weights_file(spec);
    if (!weights.empty()) set_weights_file(named, from_folder(weights));
    set(Column::pattern_args, joined(named.args));
    if (op.x_pattern != "dense") set(Column::x_pattern, op.x_pattern);
    if (op.x_density) set(Column::x_density, op.x_density->text());
    set(Column::x_pattern_file, from_folder(op.x_file));
  }

  std::string from_folder(const std::filesystem::path& file) const {
    return (folder_.empty() || file.empty() ? file : file.lexically_relative(folder_)).string();
  }

  const std::string& folder_;
  RowTexts cells_;
};

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos && (text.empty() || text[0] != '#')) {
    return text;
  }
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string line_of(const RowTexts& cells, const std::array<bool, kColumns>& used) {
  std::string line;
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (!used.at(i)) continue;
    if (i != 0) line += ',';
    line += quoted(cells.at(i));
  }
  return line + '\n';
}

}  // namespace

std::string format_trace(const WorkloadTrace& trace, const std::string& folder,
                         const std::vector<std::string>& comments) {
  std::vector<RowTexts> rows;
  std::array<bool, kColumns> used{};
  std::string previous;
  for (const LayerOp& op : trace.ops) {
    rows.push_back(Row(op, previous, folder).cells());
    previous = op.id;
    for (std::size_t i = 0; i < kColumns; ++i) {
      used.at(i) = used.at(i) || !rows.back().at(i).empty();
    }
  }
  std::string text = "# lacuna-trace v1\n";
  for (const std::string& comment : comments) text += fmt::format("# {}\n", comment);
  RowTexts names;
  for (std::size_t i = 0; i < kColumns; ++i) names.at(i) = column_names().at(i);
  text += line_of(names, used);
  for (const RowTexts& cells : rows) text += line_of(cells, used);
  return text;
}

}  // namespace lacuna

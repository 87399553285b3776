// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_time.hpp"
#include "sim/report/phase_traffic.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

std::string per_cent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100 * part / whole) : "";
}

namespace {

constexpr std::size_t kMostMappedRuns = 8;  // a page of maps of a sweep says nothing

std::string indented(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += "    " + line + '\n';
  return result;
}

std::string facts_text(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::size_t width = 0;
  for (const auto& [name, text] : facts) width = std::max(width, name.size());
  std::string result;
  for (const auto& [name, text] : facts) {
    result += fmt::format("    {:<{}}  {}\n", name, width, text);
  }
  return result;
}

/// Numbers stand to the right: a column is one of words if its first cell does not begin like one.
bool holds_words(const ExplainTable& table, std::size_t column) {
  for (const std::vector<std::string>& row : table.rows) {
    const std::string& cell = row.at(column);
    if (cell.empty()) continue;
    const auto first = static_cast<unsigned char>(cell.front());
    return std::isdigit(first) == 0 && first != '-' && first != '+';
  }
  return false;
}

std::string table_text(const ExplainTable& table) {
  TextTable text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text.column(table.columns[c].name, table.columns[c].unit,
                holds_words(table, c) ? TextTable::Align::left : TextTable::Align::right);
  }
  for (const std::vector<std::string>& row : table.rows) text.row(row);
  const std::string title = table.title.empty() ? "" : "    " + table.title + "\n";
  return title + indented(text.text());
}

std::string op_text(const OpRecord& op) {
  const SummaryRow& row = op.row;
  const OpResult& result = op.result;
  std::string text = fmt::format("{}: {}", row.op_id, row.op);
  if (row.m && row.k && row.n) text += " " + shape_text(row);
  text += '\n';
  if (result.status != Status::ok) {
    return text + fmt::format("  {}: {}\n", status_name(result.status), result.reason);
  }
  if (result.explanation.sections.empty()) return text + facts_text(result.notes);
  for (const ExplainSection& section : result.explanation.sections) {
    text += "  " + section.title + '\n' + facts_text(section.facts);
    for (const ExplainTable& table : section.tables) text += table_text(table);
  }
  if (!result.notes.empty()) text += "  Plan\n" + facts_text(result.notes);
  const std::string phases = phases_table(op);
  if (!phases.empty()) text += "  bytes that each phase moved\n" + indented(phases);
  return text;
}

/// The operation that took longest, which is the one worth looking at; null if there is none.
const OpRecord* longest(const RunRecord& record) {
  const OpRecord* found = nullptr;
  for (const OpRecord& op : record.ops) {
    if (op.result.explanation.maps.empty()) continue;
    if (found == nullptr || op.result.cycles > found->result.cycles) found = &op;
  }
  return found;
}

}  // namespace

std::string explain_text(const RunRecord& record) {
  std::string text;
  for (const OpRecord& op : record.ops) text += (text.empty() ? "" : "\n") + op_text(op);
  return text;
}

Figures explain_figures(const Runs& records) {
  Figures figures;
  if (records.size() > kMostMappedRuns) return figures;
  for (const RunRecord& record : records) {
    const OpRecord* const op = longest(record);
    if (op == nullptr) continue;
    for (const UnitMap& map : op->result.explanation.maps) {
      LoadMap load;
      load.name = records.size() == 1 ? map.name : fmt::format("{}_{}", map.name, record.run);
      load.title = {map.title, fmt::format("{}, {}", record.machine, op->row.op_id)};
      load.quantity = map.quantity;
      load.columns = map.columns;
      load.values = map.values;
      figures.push_back(draw_load_map(load));
    }
  }
  append(figures, phase_figures(records));
  return figures;
}

}  // namespace lacuna

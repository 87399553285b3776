// SPDX-License-Identifier: Apache-2.0
#include "tests/support/csv_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace lacuna::test {
namespace {

using Cells = std::vector<std::string>;

/// The cells of each line. A quoted cell may have commas and ends of lines; two quotes in it are
/// one.
std::vector<Cells> cells_of(const std::string& text) {
  std::vector<Cells> lines;
  Cells line;
  std::string cell;
  bool quoted = false;
  const auto end_cell = [&] {
    line.push_back(cell);
    cell.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && cell.empty() && c == ' ') {
      continue;
    } else if (!quoted && c == ',') {
      end_cell();
    } else if (!quoted && c == '\n') {
      end_cell();
      if (!lines.empty() || line[0].compare(0, 1, "#") != 0) lines.push_back(line);
      line.clear();
    } else {
      cell += c;
    }
  }
  if (!line.empty() || !cell.empty()) {
    end_cell();
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

CsvTable::CsvTable(const std::string& text) {
  const std::vector<Cells> lines = cells_of(text);
  if (lines.empty()) throw std::runtime_error("a CSV text has no line with names of columns");
  names_ = lines[0];
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() > names_.size()) {
      throw std::runtime_error("row " + std::to_string(i) + " has more cells than " + head());
    }
    CsvRow row;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      row[names_[c]] = c < lines[i].size() ? lines[i][c] : "";
    }
    rows_.push_back(row);
  }
}

std::string CsvTable::head() const {
  std::string text = "the columns";
  for (const std::string& name : names_) text += " " + name;
  return text;
}

CsvTable CsvTable::where(const CsvRow& cells) const {
  CsvTable found = *this;
  found.rows_.clear();
  for (const CsvRow& row : rows_) {
    const bool has = std::all_of(cells.begin(), cells.end(), [&](const auto& each) {
      return cell_of(row, each.first) == each.second;
    });
    if (has) found.rows_.push_back(row);
  }
  return found;
}

std::vector<std::string> CsvTable::column(const std::string& name) const {
  std::vector<std::string> cells;
  for (const CsvRow& row : rows_) cells.push_back(cell_of(row, name));
  return cells;
}

std::string CsvTable::cell(const std::string& name) const {
  if (rows_.size() != 1) {
    throw std::runtime_error(std::to_string(rows_.size()) + " rows in place of one, of " + head());
  }
  return cell_of(rows_.front(), name);
}

double CsvTable::number(const std::string& name) const { return std::stod(cell(name)); }

const std::string& CsvTable::cell_of(const CsvRow& row, const std::string& name) const {
  const auto found = row.find(name);
  if (found == row.end()) throw std::out_of_range("no column " + name + " in " + head());
  return found->second;
}

}  // namespace lacuna::test

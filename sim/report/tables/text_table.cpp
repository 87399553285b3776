// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace lacuna {

namespace {

std::string pad(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::string blanks(width > cell.size() ? width - cell.size() : 0, ' ');
  return align == TextTable::Align::left ? cell + blanks : blanks + cell;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

void TextTable::column(std::string title, std::string unit, Align align) {
  columns_.push_back({std::move(title), std::move(unit), align});
}

void TextTable::row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::rule() { rows_.emplace_back(); }

std::string TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);  // 0: nothing in it, left out
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const std::vector<std::string>& row : rows_) {
      if (!row.empty()) widths[c] = std::max(widths[c], row[c].size());
    }
    if (widths[c] == 0) continue;
    widths[c] = std::max({widths[c], columns_[c].title.size(), columns_[c].unit.size()});
  }
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      text += (text.empty() ? "" : "  ") + pad(cell_of(c), widths[c], columns_[c].align);
    }
    return without_trailing_blanks(text);
  };
  std::string text = line([&](std::size_t c) { return columns_[c].title; });
  const std::string units = line([&](std::size_t c) { return columns_[c].unit; });
  if (units != "\n") text += units;
  std::size_t width = 0;
  for (const std::size_t w : widths) width += w == 0 ? 0 : w + 2;
  const std::string ruler = std::string(width < 2 ? 0 : width - 2, '-') + '\n';
  text += ruler;
  for (const std::vector<std::string>& row : rows_) {
    text += row.empty() ? ruler : line([&](std::size_t c) { return row[c]; });
  }
  return text;
}

std::string TextTable::markdown() const {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) {
      std::string escaped;
      for (const char c : cell) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
      text += fmt::format(" {} |", escaped);
    }
    return text + '\n';
  };
  std::vector<std::string> titles;
  std::vector<std::string> rulers;
  for (const Column& column : columns_) {
    titles.push_back(column.unit.empty() ? column.title
                                         : fmt::format("{} ({})", column.title, column.unit));
    rulers.emplace_back(column.align == Align::left ? ":--" : "--:");
  }
  std::string text = line(titles) + line(rulers);
  for (const std::vector<std::string>& row : rows_) {
    if (!row.empty()) text += line(row);
  }
  return text;
}

std::string four_digits(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e7) return fmt::format("{:.3e}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - before, 0, 6));
}

}  // namespace lacuna

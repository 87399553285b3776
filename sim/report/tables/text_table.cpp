// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "sim/base/replaced.hpp"

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

namespace {

std::size_t most_letters = 0;  // NOLINT(*-avoid-non-const-global-variables): of one terminal

constexpr std::size_t kGap = 2;            // between columns
constexpr std::size_t kLeastOfWords = 24;  // of a column whose lines are broken

std::size_t width_of(const std::vector<std::size_t>& widths) {
  std::size_t all = 0;
  for (const std::size_t width : widths) all += width == 0 ? 0 : width + kGap;
  return all < kGap ? 0 : all - kGap;
}

}  // namespace

std::vector<std::string> lines_of_words(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    while (word.size() > width) {
      if (!lines.back().empty()) lines.emplace_back();
      lines.back() = word.substr(0, width);
      word.erase(0, width);
    }
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

void TextTable::fit(std::size_t letters) { most_letters = letters; }

std::size_t TextTable::width() { return most_letters; }

std::string wrapped(const std::string& text) {
  if (most_letters == 0) return text + '\n';
  return fmt::format("{}\n", fmt::join(lines_of_words(text, most_letters), "\n"));
}

TextTable::TextTable(std::initializer_list<std::string> columns) {
  for (std::string each : columns) {
    const bool words = !each.empty() && each.back() == '<';
    if (words) each.pop_back();
    const std::size_t bar = std::min(each.find('|'), each.size());
    const std::string unit = each.substr(std::min(bar + 1, each.size()));
    column(each.substr(0, bar), unit, words ? Align::left : Align::right);
  }
}

void TextTable::column(std::string title, std::string unit, Align align, Need need) {
  columns_.push_back({std::move(title), std::move(unit), align, need});
}

void TextTable::row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::rule() { rows_.emplace_back(); }

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const std::vector<std::string>& row : rows_) {
      if (!row.empty()) widths[c] = std::max(widths[c], row[c].size());
    }
    if (widths[c] == 0) continue;
    widths[c] = std::max({widths[c], columns_[c].title.size(), columns_[c].unit.size()});
  }
  return widths;
}

std::string TextTable::leave_out(std::vector<std::size_t>& widths) const {
  std::vector<bool> gone(columns_.size(), false);
  for (const Need need : {Need::wide, Need::spare}) {
    for (std::size_t c = columns_.size(); c-- > 0 && width_of(widths) > most_letters;) {
      if (widths[c] == 0 || columns_[c].need != need) continue;
      widths[c] = 0;
      gone[c] = true;
    }
  }
  std::vector<std::string> names;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (gone[c]) names.push_back(columns_[c].title);
  }
  if (names.empty()) return "";
  const std::string line = fmt::format("(--wide has {} too)\n", fmt::join(names, ", "));
  return line.size() <= most_letters ? line
                                     : fmt::format("(--wide has {} columns more)\n", names.size());
}

std::vector<std::vector<std::size_t>> TextTable::parts(
    const std::vector<std::size_t>& widths) const {
  std::vector<std::vector<std::size_t>> parts(1);
  std::size_t used = 0;
  std::size_t first = columns_.size();  // that is repeated
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0) continue;
    if (first == columns_.size()) first = c;
    if (most_letters > 0 && parts.back().size() > 1 && used + widths[c] > most_letters) {
      parts.push_back({first});
      used = widths[first] + kGap;
    }
    parts.back().push_back(c);
    used += widths[c] + kGap;
  }
  return parts;
}

std::string TextTable::part(const std::vector<std::size_t>& columns,
                            const std::vector<std::size_t>& widths) const {
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (const std::size_t c : columns) {
      text += (c == columns.front() ? "" : "  ") + pad(cell_of(c), widths[c], columns_[c].align);
    }
    return without_trailing_blanks(text);
  };
  std::string text = line([&](std::size_t c) { return columns_[c].title; });
  const std::string units = line([&](std::size_t c) { return columns_[c].unit; });
  if (units != "\n") text += units;
  std::size_t width = 0;
  for (const std::size_t c : columns) width += widths[c] + kGap;
  const std::string ruler = std::string(width < kGap ? 0 : width - kGap, '-') + '\n';
  text += ruler;
  for (const std::vector<std::string>& row : rows_) {
    if (row.empty()) {
      text += ruler;
      continue;
    }
    std::vector<std::vector<std::string>> cells(columns_.size());
    std::size_t high = 1;
    for (const std::size_t c : columns) {
      const bool breaks = columns_[c].align == Align::left && row[c].size() > widths[c];
      cells[c] = breaks ? lines_of_words(row[c], widths[c]) : std::vector<std::string>{row[c]};
      high = std::max(high, cells[c].size());
    }
    for (std::size_t i = 0; i < high; ++i) {
      text +=
          line([&](std::size_t c) { return i < cells[c].size() ? cells[c][i] : std::string(); });
    }
  }
  return text;
}

std::vector<std::size_t> TextTable::narrowed(const std::vector<std::size_t>& columns,
                                             std::vector<std::size_t> widths) const {
  if (most_letters == 0) return widths;
  for (std::size_t tried = 0; tried < columns.size(); ++tried) {
    std::size_t all = 0;
    for (const std::size_t c : columns) all += widths[c] + (c == columns.front() ? 0 : kGap);
    if (all <= most_letters) break;
    std::size_t widest = columns_.size();
    for (const std::size_t c : columns) {
      if (columns_[c].align == Align::right) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) break;
    const std::size_t least = std::max(kLeastOfWords, columns_[widest].title.size());
    if (widths[widest] <= least) break;
    widths[widest] -= std::min(all - most_letters, widths[widest] - least);
  }
  return widths;
}

std::string TextTable::text(bool names_left_out) const {
  std::vector<std::size_t> widths = this->widths();
  std::string left_out;
  if (most_letters > 0) left_out = leave_out(widths);
  std::size_t last = columns_.size();
  while (last > 0 && widths[last - 1] == 0) --last;
  const std::size_t all = width_of(widths);
  if (most_letters > 0 && all > most_letters && last > 0 &&
      columns_[last - 1].align == Align::left) {
    std::size_t& words = widths[last - 1];
    const std::size_t too_much = all - most_letters;
    const std::size_t least = std::max(kLeastOfWords, columns_[last - 1].title.size());
    if (words > least) words = words - std::min(too_much, words - least);
  }
  std::string text;
  for (const std::vector<std::size_t>& columns : parts(widths)) {
    text += (text.empty() ? "" : "\n") + part(columns, narrowed(columns, widths));
  }
  return names_left_out ? text + left_out : text;
}

std::vector<std::string> TextTable::titles() const {
  std::vector<std::string> titles;
  for (const auto& [title, unit, align, need] : columns_) {
    titles.push_back(unit.empty() ? title : fmt::format("{} ({})", title, unit));
  }
  return titles;
}

std::string TextTable::markdown() const {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += fmt::format(" {} |", replaced(cell, "|", "\\|"));
    return text + '\n';
  };
  std::vector<std::string> rulers;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    rulers.emplace_back(has_numbers(c) ? "--:" : ":--");
  }
  std::string text = line(titles()) + line(rulers);
  for (const std::vector<std::string>& row : rows_) {
    if (!row.empty()) text += line(row);
  }
  return text;
}

std::string percent_text(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string four_digits(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e7) return fmt::format("{:.3e}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - before, 0, 6));
}

std::string number_cell(const std::optional<double>& value, double factor) {
  return value ? four_digits(*value * factor) : std::string();
}

std::string range_cell(const std::optional<double>& low, const std::optional<double>& high,
                       double factor) {
  return low && high ? number_cell(low, factor) + " to " + number_cell(high, factor)
                     : std::string();
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/csv_lines.hpp"

#include <algorithm>

#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// Cuts one cell off at `at`; `at` is then behind its separator or beyond the end.
CsvCell cut_cell(std::string_view line, char separator, std::size_t& at, std::size_t& open_quote) {
  const char* const blanks = separator == '\t' ? " " : " \t";
  const std::size_t start = std::min(line.find_first_not_of(blanks, at), line.size());
  if (start == line.size() || line[start] != '"') {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    const std::string_view text = trimmed(line.substr(at, end - at));
    const std::size_t first = text.empty() ? at : start;
    at = end + 1;
    return {std::string(text), first + 1};
  }
  CsvCell cell{"", start + 1};
  for (std::size_t i = start + 1; i < line.size(); ++i) {
    if (line[i] != '"') {
      cell.text += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      cell.text += '"';
      ++i;
    } else {
      const std::size_t behind = std::min(line.find_first_not_of(blanks, i + 1), line.size());
      if (behind != line.size() && line[behind] != separator) break;  // text after a quoted cell
      at = behind + 1;
      cell.text = trimmed(cell.text);
      return cell;
    }
  }
  open_quote = start + 1;
  at = line.size() + 1;
  return cell;
}

std::string_view without_mark(std::string_view text) {
  const std::string_view mark = "\xEF\xBB\xBF";
  return text.substr(text.substr(0, mark.size()) == mark ? mark.size() : 0);
}

}  // namespace

char separator_of(std::string_view text) {
  const std::string_view line = first_line(text);
  const bool tabs = line.find('\t') != std::string_view::npos;
  return tabs && line.find(',') == std::string_view::npos ? '\t' : ',';
}

CsvLines::CsvLines(std::string_view text, char separator)
    : separator_(separator), text_(without_mark(text)), lines_(text_, "") {}

bool CsvLines::next(CsvLine& line) {
  if (!lines_.next_line()) return false;
  line.number = lines_.line_number();
  line.cells.clear();
  line.open_quote = 0;
  const std::string_view text = lines_.line();
  const std::string_view content = trimmed(text);
  if (content.empty()) {
    line.kind = CsvLine::Kind::blank;
    return true;
  }
  if (content.front() == '#') {
    line.kind = CsvLine::Kind::comment;
    line.comment = content;
    return true;
  }
  line.kind = CsvLine::Kind::cells;
  for (std::size_t at = 0; at <= text.size();) {
    line.cells.push_back(cut_cell(text, separator_, at, line.open_quote));
  }
  return true;
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/csv_lines.hpp"

// clang-format off
// Without its thread the library needs <limits> and does not include it.
#include <limits>
#define CSV_IO_NO_THREAD
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"  // of file names in its exceptions
#endif
#include <libfccp/csv.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
// clang-format on

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

struct CsvLines::Reader {
  explicit Reader(const std::string& text)
      : lines("trace", text.data(), text.data() + text.size()) {}

  io::LineReader lines;
};

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

}  // namespace

char separator_of(std::string_view text) {
  const std::string_view line = first_line(text);
  const bool tabs = line.find('\t') != std::string_view::npos;
  return tabs && line.find(',') == std::string_view::npos ? '\t' : ',';
}

CsvLines::CsvLines(std::string_view text, char separator) : separator_(separator), text_(text) {
  // The reader is unsure of a last line without line feed.
  if (text_.empty() || text_.back() != '\n') text_ += '\n';
  reader_ = std::make_unique<Reader>(text_);
}

CsvLines::~CsvLines() = default;

bool CsvLines::next(CsvLine& line) {
  const char* raw = nullptr;
  try {
    raw = reader_->lines.next_line();
  } catch (const io::error::line_length_limit_exceeded&) {
    throw TraceError("error E001: found a line of more than 16 MiB; allowed: shorter lines");
  }
  if (raw == nullptr) return false;
  line.number = reader_->lines.get_file_line();
  line.cells.clear();
  line.open_quote = 0;
  const std::string_view text(raw);
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

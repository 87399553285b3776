// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lacuna {

/// What stands around every page: head with the look (light, dark, phone, print), and the script
/// that sorts and filters tables. `title` is that of the page.
std::string html_head(const std::string& title);
const char* html_foot();

/// A text as HTML takes it literally.
std::string html_escaped(const std::string& text);

std::string html_base64(const std::string& bytes);

/// A cell as it is read and as it is sorted.
struct HtmlCell {
  std::string shown;
  std::string value;
  bool is_html = false;  // `shown` is no text but a drawing
};

/// A word, a count, and a number by four digits; nothing of what is not known.
HtmlCell html_cell(const std::string& text);
HtmlCell html_cell(std::uint64_t count);
HtmlCell html_cell(double number);
template <class Value>
HtmlCell html_cell(const std::optional<Value>& value) {
  return value ? html_cell(*value) : HtmlCell{};
}
inline HtmlCell html_cell(const char* text) { return html_cell(std::string(text)); }
inline HtmlCell html_cell(HtmlCell cell) { return cell; }

/// A row of such.
template <class... Values>
std::vector<HtmlCell> html_cells(const Values&... values) {
  return {html_cell(values)...};
}

/// A table whose first `texts` columns are words. Columns without a cell that says something are
/// left out; of more than `most` rows the first are shown, and where all are is said.
class HtmlTable {
 public:
  HtmlTable(std::vector<std::string> heads, std::size_t texts)
      : heads_(std::move(heads)), texts_(texts) {}

  void row(std::vector<HtmlCell> cells) { rows_.push_back(std::move(cells)); }

  std::size_t rows() const { return rows_.size(); }

  /// `all_in` is the file that has all rows.
  std::string text(std::size_t most = 1000, const std::string& all_in = "summary.csv") const;

 private:
  std::vector<std::string> heads_;
  std::size_t texts_;
  std::vector<std::vector<HtmlCell>> rows_;
};

}  // namespace lacuna

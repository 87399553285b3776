// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html/html_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "sim/base/replaced.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr const char* kStyle = R"(<style>
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #f3f3f3; --rule: #ddd;
        --dim: #555; --link: #0060a0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #17191c; --soft: #24272b; --rule: #3a3e44; --dim: #aaa;
          --link: #7cc0f5; }
  figure img, .bar, .key i { filter: invert(.91) hue-rotate(180deg); }
}
body { font: 15px/1.45 Arial, Helvetica, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 78rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; }
h2 { font-size: 1.15rem; margin-top: 2.2rem; }
a { color: var(--link); }
nav ul { padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; }
table { border-collapse: collapse; font-size: .87rem; }
.wide { overflow-x: auto; }
th, td { padding: .22rem .6rem; text-align: right; white-space: nowrap;
         border-bottom: 1px solid var(--rule); }
th { cursor: pointer; background: var(--soft); vertical-align: bottom; white-space: normal; }
th:focus { outline: 2px solid #0072B2; }
th[aria-sort=ascending]::after { content: " \2191"; }
th[aria-sort=descending]::after { content: " \2193"; }
td.text, th.text { text-align: left; }
td.text { white-space: normal; }
input.filter { font: inherit; font-size: .87rem; padding: .2rem .4rem; margin: .3rem 0;
               max-width: 100%; color: inherit; background: var(--soft);
               border: 1px solid var(--rule); }
.bar { display: inline-flex; width: 11rem; height: .9rem; vertical-align: middle; }
.bar i { height: 100%; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .87rem; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin-right: .3rem;
         vertical-align: -.1rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1.2rem; }
figure { margin: 0; width: 24rem; max-width: 100%; }
figure img { width: 100%; background: #fff; }
figcaption { font-size: .8rem; color: var(--dim); }
pre { background: var(--soft); padding: .7rem; overflow-x: auto; white-space: pre-wrap;
      overflow-wrap: anywhere; }
details { margin: .6rem 0; }
@media (max-width: 40rem) {
  table.cards thead { display: none; }
  table.cards, table.cards tbody, table.cards tr { display: block; }
  table.cards tr { border: 1px solid var(--rule); margin: .6rem 0; padding: .3rem; }
  table.cards td { display: flex; justify-content: space-between; gap: 1rem; border: 0;
                   white-space: normal; text-align: right; overflow-wrap: anywhere; }
  table.cards td:empty { display: none; }
  table.cards td::before { content: attr(data-label); color: var(--dim); text-align: left; }
}
@media print {
  .bar i, .key i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav, input.filter { display: none; }
  figure img, .bar, .key i { filter: none; }
  body { max-width: none; margin: 0; color: #000; background: #fff; }
  .wide { overflow: visible; } table { font-size: 6.5pt; } th, td { padding: .1rem .25rem;
  white-space: normal; } figure, tr { break-inside: avoid; }
}
</style>
)";

// numbers sort as numbers, empty cells last; a filter keeps the rows that have all its words
constexpr const char* kScript = R"(<script>
function valueOf(cell) {
  return cell.dataset.value !== undefined ? cell.dataset.value : cell.textContent;
}
document.querySelectorAll('table').forEach(function (table) {
  var heads = table.querySelectorAll('th');
  heads.forEach(function (head, column) {
    function sort() {
      var up = head.getAttribute('aria-sort') !== 'ascending';
      var body = table.tBodies[0];
      var rows = Array.prototype.slice.call(body.rows);
      rows.sort(function (a, b) {
        var x = valueOf(a.cells[column]), y = valueOf(b.cells[column]);
        if (x === '' || y === '') return x === y ? 0 : x === '' ? 1 : -1;
        var order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
        return up ? order : -order;
      });
      rows.forEach(function (row) { body.appendChild(row); });
      heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    }
    head.addEventListener('click', sort);
    head.addEventListener('keydown', function (event) {
      if (event.key === 'Enter') sort();
    });
  });
  table.className = 'cards';
  Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
    Array.prototype.forEach.call(row.cells, function (cell, column) {
      cell.dataset.label = heads[column].textContent;
    });
  });
  if (table.tBodies[0].rows.length < 6) return;
  var box = document.createElement('input');
  box.className = 'filter';
  box.type = 'search';
  box.placeholder = 'rows with ...';
  box.setAttribute('aria-label', 'show the rows that have these words');
  box.addEventListener('input', function () {
    var words = box.value.toLowerCase().split(/\s+/);
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      var text = row.textContent.toLowerCase();
      row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
    });
  });
  table.parentNode.parentNode.insertBefore(box, table.parentNode);
});
window.addEventListener('beforeprint', function () {
  document.querySelectorAll('details').forEach(function (each) { each.open = true; });
});
</script>
</body>
</html>
)";

}  // namespace

std::string html_escaped(const std::string& text) {
  const std::string signs = replaced(replaced(text, "&", "&amp;"), "<", "&lt;");
  return replaced(replaced(signs, ">", "&gt;"), "\"", "&quot;");
}

HtmlCell html_cell(const std::string& text) { return {text, text}; }

HtmlCell html_cell(std::uint64_t count) { return html_cell(fmt::format("{}", count)); }

HtmlCell html_cell(double number) { return {four_digits(number), fmt::format("{}", number)}; }

std::string html_base64(const std::string& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const char byte = i + j < bytes.size() ? bytes[i + j] : '\0';
      three = three << 8U | static_cast<unsigned char>(byte);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > bytes.size();
      text += padding ? '=' : kDigits[three >> (18 - 6 * j) & 63U];
    }
  }
  return text;
}

std::string html_head(const std::string& title) {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n",
             html_escaped(title)) +
         kStyle + "</head>\n<body>\n";
}

const char* html_foot() { return kScript; }

std::string HtmlTable::text(std::size_t most, const std::string& all_in) const {
  std::vector<bool> shown(heads_.size(), false);
  for (const std::vector<HtmlCell>& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) shown[i] = shown[i] || !cells[i].shown.empty();
  }
  const auto style = [&](std::size_t column) { return column < texts_ ? " class=\"text\"" : ""; };
  std::string text;
  if (rows_.size() > most) {
    text += fmt::format("<p>The first {} of {} rows; <a href=\"{}\">{}</a> has all.</p>\n", most,
                        rows_.size(), all_in, all_in);
  }
  text += "<div class=\"wide\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (!shown[i]) continue;
    text += fmt::format("<th tabindex=\"0\"{}>{}</th>", style(i), html_escaped(heads_[i]));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < std::min(rows_.size(), most); ++r) {
    text += "<tr>";
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      if (!shown[i]) continue;
      const HtmlCell& cell = rows_[r][i];
      const std::string value = cell.value == cell.shown
                                    ? ""
                                    : fmt::format(" data-value=\"{}\"", html_escaped(cell.value));
      text += fmt::format("<td{}{}>{}</td>", style(i), value,
                          cell.is_html ? cell.shown : html_escaped(cell.shown));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n";
}

}  // namespace lacuna

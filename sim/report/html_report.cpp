// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/tokenizer.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Lacuna report</title>
<style>
body { font: 15px/1.45 Arial, Helvetica, sans-serif; color: #222; max-width: 78rem;
       margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: .87rem; }
.wide { overflow-x: auto; }
th, td { padding: .22rem .6rem; text-align: right; white-space: nowrap;
         border-bottom: 1px solid #ddd; }
th { cursor: pointer; background: #f3f3f3; vertical-align: bottom; white-space: normal; }
th:focus { outline: 2px solid #0072B2; }
th[aria-sort=ascending]::after { content: " \2191"; }
th[aria-sort=descending]::after { content: " \2193"; }
td.text, th.text { text-align: left; }
.figures { display: flex; flex-wrap: wrap; gap: 1.2rem; }
figure { margin: 0; } figure img { width: 24rem; max-width: 100%; }
figcaption { font-size: .8rem; color: #555; }
pre { background: #f3f3f3; padding: .7rem; overflow-x: auto; }
details { margin: .6rem 0; }
</style>
</head>
<body>
)";

// numbers sort as numbers, empty cells last
constexpr const char* kScript = R"(<script>
document.querySelectorAll('table').forEach(function (table) {
  table.querySelectorAll('th').forEach(function (head, column) {
    function sort() {
      var up = head.getAttribute('aria-sort') !== 'ascending';
      var body = table.tBodies[0];
      var rows = Array.prototype.slice.call(body.rows);
      rows.sort(function (a, b) {
        var x = a.cells[column].dataset.value, y = b.cells[column].dataset.value;
        if (x === '' || y === '') return x === y ? 0 : x === '' ? 1 : -1;
        var order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
        return up ? order : -order;
      });
      rows.forEach(function (row) { body.appendChild(row); });
      table.querySelectorAll('th').forEach(function (other) {
        other.removeAttribute('aria-sort');
      });
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    }
    head.addEventListener('click', sort);
    head.addEventListener('keydown', function (event) {
      if (event.key === 'Enter') sort();
    });
  });
});
</script>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string base64(const std::string& bytes) {
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

/// A cell as it is read and as it is sorted.
struct Cell {
  std::string shown;
  std::string value;
};

Cell word(const std::string& text) { return {text, text}; }

Cell shown(double value) { return {four_digits(value), fmt::format("{}", value)}; }

Cell number(const std::optional<double>& value, double scale = 1) {
  return value ? shown(*value * scale) : Cell{};
}

Cell energy(const SummaryRow& row, Corner corner) {
  return row.energy_j ? shown(row.energy_j->at(corner) * 1e6) : Cell{};
}

Cell count(const std::optional<std::uint64_t>& value) {
  if (!value) return {};
  return word(fmt::format("{}", *value));
}

/// A table whose first `texts` columns are words.
class HtmlTable {
 public:
  HtmlTable(const std::vector<std::string>& heads, std::size_t texts)
      : texts_(texts), text_("<div class=\"wide\"><table>\n<thead><tr>") {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      text_ += fmt::format("<th tabindex=\"0\"{}>{}</th>", style(i), escaped(heads[i]));
    }
    text_ += "</tr></thead>\n<tbody>\n";
  }

  void row(const std::vector<Cell>& cells) {
    text_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text_ += fmt::format("<td{} data-value=\"{}\">{}</td>", style(i), escaped(cells[i].value),
                           escaped(cells[i].shown));
    }
    text_ += "</tr>\n";
  }

  std::string text() const { return text_ + "</tbody>\n</table></div>\n"; }

 private:
  const char* style(std::size_t column) const { return column < texts_ ? " class=\"text\"" : ""; }

  std::size_t texts_;
  std::string text_;
};

std::vector<Cell> measures(const SummaryRow& row) {
  return {
      number(row.density),
      count(row.cycles),
      number(row.time_s, 1e6),
      number(row.time_low_s, 1e6),
      number(row.time_high_s, 1e6),
      number(row.useful_tflops),
      number(row.speedup_vs_dense),
      number(row.speedup_low),
      number(row.speedup_high),
      number(row.utilisation, 100),
      energy(row, Corner::nominal),
      energy(row, Corner::low),
      energy(row, Corner::high),
      number(row.pj_per_useful_flop),
      number(row.silicon_mm2),
      number(row.gflops_per_mm2),
      word(row.trust),
      word(row.status == Status::ok ? ""
                                    : std::string(status_name(row.status)) + ": " + row.reason)};
}

const std::vector<std::string> kMeasures{"density",       "cycles",
                                         "time (us)",     "5 % (us)",
                                         "95 % (us)",     "useful TFLOP/s",
                                         "speed-up",      "5 %",
                                         "95 %",          "% of peak",
                                         "energy (uJ)",   "low (uJ)",
                                         "high (uJ)",     "pJ per useful FLOP",
                                         "silicon (mm2)", "GFLOP/s/mm2",
                                         "5 to 95 %: by", "remark"};

std::vector<std::string> heads(std::vector<std::string> first) {
  first.insert(first.end(), kMeasures.begin(), kMeasures.end());
  return first;
}

void append(std::vector<Cell>& cells, const std::vector<Cell>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
}

std::string runs_table(const std::vector<RunRecord>& records) {
  std::vector<std::string> first{"run",     "machine", "simulated", "workload",
                                 "pattern", "mode",    "weights"};
  const std::size_t texts = first.size();
  if (!records.empty()) {
    first.insert(first.end(), records[0].varying.begin(), records[0].varying.end());
  }
  HtmlTable table(heads(first), texts);
  for (const RunRecord& record : records) {
    std::vector<Cell> cells{word(fmt::format("{}", record.run)),
                            word(record.machine),
                            word(record.extent),
                            word(record.workload),
                            word(record.pattern),
                            word(record.total.mode),
                            word(record.total.residency)};
    for (const std::string& value : record.total.varying) cells.push_back(word(value));
    append(cells, measures(record.total));
    table.row(cells);
  }
  return table.text();
}

std::string ops_table(const std::vector<RunRecord>& records) {
  HtmlTable table(heads({"run", "machine", "pattern", "operation", "m x k x n", "mode", "weights"}),
                  7);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      const std::string shape = op.row.m && op.row.k && op.row.n
                                    ? fmt::format("{} x {} x {}", *op.row.m, *op.row.k, *op.row.n)
                                    : "";
      std::vector<Cell> cells{word(fmt::format("{}", record.run)),
                              word(record.machine),
                              word(record.pattern),
                              word(op.row.op_id),
                              word(shape),
                              word(op.row.mode),
                              word(op.row.residency)};
      append(cells, measures(op.row));
      table.row(cells);
    }
  }
  return table.text();
}

std::string stack_table_html(const std::vector<RunRecord>& records) {
  HtmlTable table({"run", "machine", "pattern", "layer", "kind", "unit-cycles", "%"}, 5);
  for (const RunRecord& record : records) {
    const std::vector<StackPart> stack = record.stack();
    double sum = 0;
    for (const StackPart& part : stack) sum += static_cast<double>(part.cycles);
    for (const StackPart& part : stack) {
      table.row({word(fmt::format("{}", record.run)), word(record.machine), word(record.pattern),
                 word(layer_name(part.layer)), word(part.kind), count(part.cycles),
                 sum > 0 ? shown(static_cast<double>(part.cycles) * 100 / sum) : Cell{}});
    }
  }
  return table.text();
}

std::string energy_table_html(const std::vector<RunRecord>& records) {
  HtmlTable table({"run", "machine", "pattern", "operation", "component", "energy (uJ)", "low (uJ)",
                   "high (uJ)", "% of nominal"},
                  5);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      double sum = 0;
      for (const EnergyPart& part : op.energy) sum += part.joules.nominal;
      for (const EnergyPart& part : op.energy) {
        if (!(part.joules.high > 0)) continue;
        table.row({word(fmt::format("{}", record.run)), word(record.machine), word(record.pattern),
                   word(op.row.op_id), word(part.component), shown(part.joules.nominal * 1e6),
                   shown(part.joules.low * 1e6), shown(part.joules.high * 1e6),
                   sum > 0 ? shown(part.joules.nominal * 100 / sum) : Cell{}});
      }
    }
  }
  return table.text();
}

/// What each machine says of its plan, an entry each.
std::string notes_html(const std::vector<RunRecord>& records) {
  HtmlTable table({"run", "machine", "operation", "of the plan", "is"}, 5);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      for (const auto& [name, text] : op.result.notes) {
        table.row({word(fmt::format("{}", record.run)), word(record.machine), word(op.row.op_id),
                   word(name), word(text)});
      }
    }
  }
  return table.text();
}

/// Of each machine's first run; what differs between runs is a column of the tables.
std::string parameters_html(const std::vector<RunRecord>& records) {
  std::string text;
  std::vector<std::string> seen;
  for (const RunRecord& record : records) {
    if (std::find(seen.begin(), seen.end(), record.machine) != seen.end()) continue;
    seen.push_back(record.machine);
    HtmlTable table({"parameter", "value", "unit"}, 3);
    for (const ParameterValue& parameter : record.parameters) {
      table.row({word(parameter.path), word(parameter.value), word(parameter.unit)});
    }
    text += fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(record.machine),
                        table.text());
  }
  return text;
}

std::string figures_html(const HtmlReport& report) {
  if (report.figures.empty()) return "<p>No figures were drawn.</p>\n";
  std::string text = "<div class=\"figures\">\n";
  // as images, because the drawings use the same names inside
  for (const auto& [name, svg] : report.figures) {
    text += fmt::format(
        "<figure><img alt=\"{0}\" src=\"data:image/svg+xml;base64,{1}\">"
        "<figcaption>{0}</figcaption></figure>\n",
        escaped(name), base64(svg));
  }
  return text + "</div>\n";
}

std::vector<std::string> cells_of(const std::string& line) {
  const boost::escaped_list_separator<char> rfc4180(std::string(), ",", "\"");
  const boost::tokenizer<boost::escaped_list_separator<char>> cells(line, rfc4180);
  return {cells.begin(), cells.end()};
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

/// A CSV text; columns are words up to the first whose value in the first line is a number.
std::string csv_table(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::vector<std::vector<std::string>> rows;
  while (std::getline(lines, line)) rows.push_back(cells_of(line));
  if (rows.size() < 2) return "<p>There are none.</p>\n";
  const auto number = std::find_if(rows[1].begin(), rows[1].end(), is_number);
  HtmlTable table(rows[0], static_cast<std::size_t>(number - rows[1].begin()));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::vector<Cell> cells;
    for (const std::string& cell : rows[i]) {
      cells.push_back(is_number(cell) ? Cell{four_digits(std::stod(cell)), cell} : word(cell));
    }
    table.row(cells);
  }
  return table.text();
}

bool all_exact(const std::vector<RunRecord>& records) {
  return std::all_of(records.begin(), records.end(),
                     [](const RunRecord& record) { return record.total.exact; });
}

}  // namespace

std::string html_report(const HtmlReport& report, const std::vector<RunRecord>& records) {
  std::string text = kHead;
  text += fmt::format("<h1>Lacuna report</h1>\n<p>Version {}; {} run{}; {}.</p>\n",
                      escaped(report.version), records.size(), records.size() == 1 ? "" : "s",
                      all_exact(records) ? "exact" : "with approximations");
  if (is_interrupted(records)) {
    const auto left = std::count_if(records.begin(), records.end(), [](const RunRecord& record) {
      return record.total.status == Status::interrupted;
    });
    text += fmt::format(
        "<p class=\"interrupted\"><strong>interrupted: {} of {} runs were not simulated. "
        "<code>--resume</code> goes on with them.</strong></p>\n",
        left, records.size());
  }
  text += "<h2>Runs</h2>\n" + runs_table(records);
  text += "<h2>Figures</h2>\n" + figures_html(report);
  text += "<h2>Operations</h2>\n<details><summary>Each operation of each run</summary>\n" +
          ops_table(records) + "</details>\n";
  text += "<h2>Where the cycles went</h2>\n<details><summary>Each kind of each run</summary>\n" +
          stack_table_html(records) + "</details>\n";
  text +=
      "<h2>Energy</h2>\n<p>Energy is from a counter-based model calibrated to published chip "
      "power; comparisons are between runs of the same modelled chip, and the stated range moves "
      "every event cost between its low and its high estimate.</p>\n"
      "<details><summary>Each component of each operation</summary>\n" +
      energy_table_html(records) + "</details>\n";
  text += "<h2>Plans</h2>\n<details><summary>What was planned for each operation</summary>\n" +
          notes_html(records) + "</details>\n";
  text += "<h2>Parameters</h2>\n" + parameters_html(records);
  text += "<h2>To make it again</h2>\n<pre>" + escaped(report.command) + "</pre>\n";
  return text + kScript + "</body>\n</html>\n";
}

std::string html_tables(const HtmlReport& report,
                        const std::vector<std::pair<std::string, std::string>>& tables,
                        const std::vector<ParameterValue>& parameters) {
  std::string text = kHead;
  text +=
      fmt::format("<h1>Lacuna report</h1>\n<p>Version {}; exact.</p>\n", escaped(report.version));
  text += "<h2>Figures</h2>\n" + figures_html(report);
  for (const auto& [name, csv] : tables) {
    text += fmt::format("<h2>{}</h2>\n", escaped(name)) + csv_table(csv);
  }
  HtmlTable table({"parameter", "value", "unit"}, 3);
  for (const ParameterValue& parameter : parameters) {
    table.row({word(parameter.path), word(parameter.value), word(parameter.unit)});
  }
  text += "<h2>Parameters</h2>\n<details><summary>All</summary>\n" + table.text() + "</details>\n";
  text += "<h2>To make it again</h2>\n<pre>" + escaped(report.command) + "</pre>\n";
  return text + kScript + "</body>\n</html>\n";
}

std::vector<std::pair<std::string, std::string>> read_figures(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::pair<std::string, std::string>> figures;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() != ".svg") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    figures.emplace_back(entry.path().stem().string(),
                         std::string(std::istreambuf_iterator<char>(file), {}));
  }
  // a folder lists its files in any order
  std::sort(figures.begin(), figures.end());
  return figures;
}

}  // namespace lacuna

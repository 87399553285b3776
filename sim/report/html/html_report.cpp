// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/html/html_answer.hpp"
#include "sim/report/html/html_captions.hpp"
#include "sim/report/html/html_frame.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

std::optional<double> scaled(const std::optional<double>& value, double scale) {
  return value ? std::optional(*value * scale) : std::nullopt;
}

std::optional<double> micro_joules(const SummaryRow& row, Corner corner) {
  return row.energy_j ? std::optional(row.energy_j->at(corner) * 1e6) : std::nullopt;
}

std::vector<HtmlCell> metric_cells(const SummaryRow& row) {
  const std::string remark =
      row.status == Status::ok ? "" : std::string(status_name(row.status)) + ": " + row.reason;
  return html_cells(row.density, row.cycles, scaled(row.time_s, 1e6), scaled(row.time_low_s, 1e6),
                    scaled(row.time_high_s, 1e6), row.useful_tflops, row.speedup_vs_dense,
                    row.speedup_low, row.speedup_high, scaled(row.utilisation, 100),
                    micro_joules(row, Corner::nominal), micro_joules(row, Corner::low),
                    micro_joules(row, Corner::high), row.pj_per_useful_flop, row.silicon_mm2,
                    row.gflops_per_mm2, row.trust, remark);
}

constexpr std::size_t kMostRows = 400;  // of the tables behind the answer

std::string ops_table(const Runs& records) {
  HtmlTable table({"run",
                   "machine",
                   "pattern",
                   "operation",
                   "m x k x n",
                   "mode",
                   "weights",
                   "density",
                   "cycles",
                   "time (us)",
                   "5 % (us)",
                   "95 % (us)",
                   "useful TFLOP/s",
                   "speed-up",
                   "5 %",
                   "95 %",
                   "% of peak",
                   "energy (uJ)",
                   "low (uJ)",
                   "high (uJ)",
                   "pJ per useful FLOP",
                   "silicon (mm2)",
                   "GFLOP/s/mm2",
                   "5 to 95 %: by",
                   "remark"},
                  7);
  for (const RunRecord& record : records) {
    const auto add = [&](const SummaryRow& row) {
      std::vector<HtmlCell> cells = html_cells(record.run, record.machine, record.pattern,
                                               row.op_id, shape_text(row), row.mode, row.residency);
      append(cells, metric_cells(row));
      table.row(cells);
    };
    for (const OpRecord& op : record.ops) add(op.row);
    add(record.total);
  }
  return table.text(kMostRows, "summary.csv");
}

std::optional<double> percent_of(double part, double all) {
  return all > 0 ? std::optional(part * 100 / all) : std::nullopt;
}

std::string stack_table_html(const Runs& records) {
  HtmlTable table({"run", "machine", "pattern", "layer", "kind", "unit-cycles", "%"}, 5);
  for (const RunRecord& record : records) {
    const std::vector<StackPart> stack = record.stack();
    double sum = 0;
    for (const StackPart& part : stack) sum += static_cast<double>(part.cycles);
    for (const StackPart& part : stack) {
      table.row(html_cells(record.run, record.machine, record.pattern, layer_name(part.layer),
                           part.kind, part.cycles,
                           percent_of(static_cast<double>(part.cycles), sum)));
    }
  }
  return table.text(kMostRows, "cycle_stack.csv");
}

std::string energy_table_html(const Runs& records) {
  HtmlTable table({"run", "machine", "pattern", "operation", "component", "energy (uJ)", "low (uJ)",
                   "high (uJ)", "% of nominal"},
                  5);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      double sum = 0;
      for (const EnergyPart& part : op.energy) sum += part.joules.nominal;
      for (const EnergyPart& part : op.energy) {
        if (!(part.joules.high > 0)) continue;
        table.row(html_cells(record.run, record.machine, record.pattern, op.row.op_id,
                             part.component, part.joules.nominal * 1e6, part.joules.low * 1e6,
                             part.joules.high * 1e6, percent_of(part.joules.nominal, sum)));
      }
    }
  }
  return table.text(kMostRows, "result.json");
}

/// What each machine says of its plan, an entry each.
std::string notes_html(const Runs& records) {
  HtmlTable table({"run", "machine", "operation", "of the plan", "is"}, 5);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      for (const auto& [name, text] : op.result.notes) {
        table.row(html_cells(record.run, record.machine, op.row.op_id, name, text));
      }
    }
  }
  return table.text(kMostRows, "result.json");
}

std::string details(const std::string& summary, const std::string& text) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, text);
}

std::string parameter_table_html(const std::vector<ParameterValue>& parameters) {
  HtmlTable table({"parameter", "value", "unit"}, 3);
  for (const ParameterValue& parameter : parameters) {
    table.row(html_cells(parameter.path, parameter.value, parameter.unit));
  }
  return table.text();
}

/// Of each machine's first run; what differs between runs is a column of the tables.
std::string parameters_html(const Runs& records) {
  std::string text;
  std::vector<std::string> seen;
  for (const RunRecord& record : records) {
    if (contains(seen, record.machine)) continue;
    seen.push_back(record.machine);
    text += details(html_escaped(record.machine), parameter_table_html(record.parameters));
  }
  return text;
}

/// Drawings up to two MB, which is most of what a page should be; of the others there are links.
constexpr std::size_t kMostFigureBytes = 2000000;

using NamedDrawing = std::pair<std::string, std::string>;

std::size_t bytes_of(const NamedDrawing& figure) { return figure.second.size() * 4 / 3; }

std::string links_of(const std::string& name) {
  return fmt::format(R"(<a href="figures/{0}.csv">data</a> <a href="figures/{0}.pdf">PDF</a>)",
                     html_escaped(name));
}

/// As an image, because drawings use the same names inside.
std::string figure_html(const NamedDrawing& figure) {
  const auto& [name, svg] = figure;
  return fmt::format(
      "<figure id=\"figure-{0}\"><img alt=\"{1}\" src=\"data:image/svg+xml;base64,{2}\">"
      "<figcaption><b>{0}</b>: {1} {3}</figcaption></figure>\n",
      html_escaped(name), html_escaped(figure_caption(name)), html_base64(svg), links_of(name));
}

/// Those that answer first in front.
std::vector<NamedDrawing> in_order(std::vector<NamedDrawing> figures) {
  sort_all(figures, [](const auto& x, const auto& y) {
    return figure_rank(x.first) < figure_rank(y.first);
  });
  return figures;
}

/// The figures from `first` on; those before stand elsewhere on the page.
std::string figures_html(const std::vector<NamedDrawing>& figures, std::size_t first = 0) {
  if (figures.empty()) return "<p>No figures were drawn.</p>\n";
  std::string text = "<p>Under each: its data and a PDF.</p>\n<div class=\"figures\">\n";
  std::string others;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const auto& [name, svg] = figures[i];
    const bool fits = bytes + bytes_of(figures[i]) <= kMostFigureBytes;
    if (fits) bytes += bytes_of(figures[i]);
    if (i < first) continue;
    if (fits) {
      text += figure_html(figures[i]);
    } else {
      others += fmt::format("<li>{}: {} <a href=\"figures/{}.svg\">drawing</a> {}</li>\n",
                            html_escaped(name), html_escaped(figure_caption(name)),
                            html_escaped(name), links_of(name));
    }
  }
  text += "</div>\n";
  if (!others.empty()) text += "<p>More, beside this page:</p>\n<ul>\n" + others + "</ul>\n";
  return text;
}

/// A CSV text; columns are words up to the first whose value in the first line is a number.
std::string csv_table(const std::string& csv) {
  const std::vector<std::vector<std::string>> rows = csv_rows(csv);
  if (rows.size() < 2) return "<p>There are none.</p>\n";
  const auto number = std::find_if(rows[1].begin(), rows[1].end(), is_number);
  HtmlTable table(rows[0], static_cast<std::size_t>(number - rows[1].begin()));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::vector<HtmlCell> cells;
    for (const std::string& cell : rows[i]) {
      cells.push_back(is_number(cell) ? HtmlCell{four_digits(std::stod(cell)), cell}
                                      : html_cell(cell));
    }
    table.row(cells);
  }
  return table.text();
}

bool all_exact(const Runs& records) {
  return all_of(records, [](const RunRecord& record) { return record.total.exact; });
}

}  // namespace

namespace {

/// A part of a page, and its line in the list of contents.
struct Section {
  std::string id;
  std::string title;
  std::string text;
};

std::string page_of(const std::string& title, const std::string& said, const std::string& command,
                    const std::vector<Section>& sections) {
  std::string text = html_head("Lacuna: " + title);
  text += fmt::format("<h1>{}</h1>\n<pre>{}</pre>\n{}<nav aria-label=\"contents\"><ul>\n",
                      html_escaped(title), html_escaped(command), said);
  for (const Section& section : sections) {
    text +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, html_escaped(section.title));
  }
  text += "</ul></nav>\n";
  for (const Section& section : sections) {
    text += fmt::format("<h2 id=\"{}\">{}</h2>\n{}", section.id, html_escaped(section.title),
                        section.text);
  }
  return text + html_foot();
}

/// What each run says that was asked why it is not faster; empty if none was.
std::string why_html(const Answer& answer) {
  std::string text;
  for (const AnswerCause& each : answer.causes) {
    text += fmt::format("<p><strong>{}.</strong>", html_escaped(answer.points[each.point].name));
    for (const std::string& sentence : each.why().sentences) text += " " + html_escaped(sentence);
    text += "</p>\n";
    HtmlTable table({"taken away, in this order", "replayed by, with those above",
                     fmt::format("time ({})", each.why().unit), "faster", "zeros gain"},
                    2);
    for (const LadderLine& line : ladder_lines(each.why())) {
      table.row(html_cells(line.taken, line.by,
                           HtmlCell{time_text(line.time), fmt::format("{}", line.time)},
                           line.faster, line.gain));
    }
    text += table.text();
  }
  return text;
}

}  // namespace

std::string html_report(const HtmlReport& report, const Runs& records) {
  std::string said = fmt::format("<p>Lacuna {}; {} run{}; {}.</p>\n", html_escaped(report.version),
                                 records.size(), records.size() == 1 ? "" : "s",
                                 all_exact(records) ? "exact" : "with approximations");
  if (is_interrupted(records)) {
    const auto left = count_where(records, [](const RunRecord& record) {
      return record.total.status == Status::interrupted;
    });
    said += fmt::format(
        "<p class=\"interrupted\"><strong>interrupted: {} of {} runs were not simulated. "
        "<code>--resume</code> goes on with them.</strong></p>\n",
        left, records.size());
  }
  const std::vector<NamedDrawing> figures = in_order(report.figures);
  const bool has_first = !figures.empty() && bytes_of(figures.front()) <= kMostFigureBytes;
  std::string beside;
  for (const std::string& file : report.beside) {
    beside += fmt::format("<li><a href=\"{0}\">{0}</a></li>\n", html_escaped(file));
  }
  if (!beside.empty()) beside = "<p>Beside this page:</p>\n<ul>\n" + beside + "</ul>\n";
  const std::string energy =
      "<p>Energy is from a counter-based model calibrated to published chip power; comparisons are "
      "between runs of the same modelled chip, and the stated range moves every event cost between "
      "its low and its high estimate.</p>\n" +
      details("Each component of each operation", energy_table_html(records));
  const Answer answer = answer_of(records);
  std::vector<Section> sections = {
      {"answer", "The answer", answer_html(answer, has_first ? figure_html(figures.front()) : "")}};
  const std::string why = why_html(answer);
  if (!why.empty()) sections.push_back({"why", "Why it is not faster", why});
  const std::vector<Section> rest = {
      {"figures", "Figures", figures_html(figures, has_first ? 1 : 0)},
      {"operations", "Operations", details("Each operation of each run", ops_table(records))},
      {"cycles", "Where cores waited", details("Each kind of each run", stack_table_html(records))},
      {"energy", "Energy", energy},
      {"plans", "Plans", details("What was planned for each operation", notes_html(records))},
      {"parameters", "Parameters", parameters_html(records)},
      {"again", "Files, and to make it again",
       beside + fmt::format("<pre>{}</pre>\n", html_escaped(report.command))}};
  append(sections, rest);
  return page_of(records.empty() ? "no run" : screen_title(records), said, report.command,
                 sections);
}

std::string html_tables(const HtmlReport& report,
                        const std::vector<std::pair<std::string, std::string>>& tables,
                        const std::vector<ParameterValue>& parameters) {
  std::vector<Section> sections;
  sections.reserve(tables.size() + 1);
  for (const auto& [name, csv] : tables) sections.push_back({name, name, csv_table(csv)});
  // the first table is the answer
  sections.insert(sections.begin() + (sections.empty() ? 0 : 1),
                  {"figures", "Figures", figures_html(in_order(report.figures))});
  sections.push_back(
      {"parameters", "Parameters", details("All", parameter_table_html(parameters))});
  return page_of("Lacuna report",
                 fmt::format("<p>Lacuna {}; {}.</p>\n", html_escaped(report.version),
                             report.composed ? "composed" : "exact"),
                 report.command, sections);
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
  sort_all(figures);
  return figures;
}

}  // namespace lacuna

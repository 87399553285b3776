// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>

#include "sim/report/figures/figure_lines.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostOps = 24;  // of one page

/// A quantity of an operation, drawn as dots beside its name.
struct OpQuantity {
  const char* name;
  const char* label;
  bool of_dense;  // relative to the dense run, of which alone it says nothing
  std::optional<EnergyRange> (*value)(const SummaryRow& op);
};

constexpr std::array<OpQuantity, 2> kOpQuantities{
    {{"throughput_by_op", "Useful TFLOP/s", false, throughput_range},
     {"speedup_by_op", "Speed-up over dense", true, speedup_range}}};

/// Runs of one density, and the dense ones they are compared with.
struct Panel {
  std::string suffix;  // of the file's name
  std::vector<FigureRun> runs;
  std::vector<SeriesStyle> styles;
};

std::vector<Panel> panels(const std::vector<FigureRun>& runs) {
  const std::vector<SeriesStyle> styles = run_styles(runs);
  std::vector<std::string> densities;
  for (const FigureRun& run : runs) {
    const std::string& text = run.density_text;
    const bool known = std::find(densities.begin(), densities.end(), text) != densities.end();
    if (run.pattern != "dense" && !known) densities.push_back(text);
  }
  if (densities.empty()) densities.emplace_back("1");
  std::vector<Panel> result;
  for (const std::string& density : densities) {
    Panel panel;
    if (densities.size() > 1) panel.suffix = "_density_" + density;
    std::replace(panel.suffix.begin(), panel.suffix.end(), '.', '_');
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].pattern != "dense" && runs[i].density_text != density) continue;
      panel.runs.push_back(runs[i]);
      panel.styles.push_back(styles[i]);
    }
    result.push_back(panel);
  }
  return result;
}

std::vector<std::string> op_names(const Panel& panel) {
  std::vector<std::string> names;
  for (const FigureRun& run : panel.runs) {
    for (const SummaryRow& op : run.ops) {
      if (std::find(names.begin(), names.end(), op.op_id) == names.end()) {
        names.push_back(op.op_id);
      }
    }
  }
  return names;
}

/// The dots as CSV; `low` and `high` become their extremes.
std::string dots_csv(const Panel& panel, const OpQuantity& quantity,
                     const std::vector<std::string>& names, double& low, double& high) {
  std::string csv = csv_line({"series", "op", "place", quantity.label, "low", "high"});
  for (const FigureRun& run : panel.runs) {
    for (const SummaryRow& op : run.ops) {
      const std::optional<EnergyRange> value = quantity.value(op);
      if (!value) continue;
      const auto place = std::find(names.begin(), names.end(), op.op_id) - names.begin();
      csv += csv_line({key_cell(run.bar()), op.op_id, fmt::format("{}", place),
                       fmt::format("{}", value->nominal), fmt::format("{}", value->low),
                       fmt::format("{}", value->high)});
      low = low == 0 ? value->low : std::min(low, value->low);
      high = std::max(high, value->high);
    }
  }
  return csv;
}

/// What has no value stands at the left edge, with its reason; of one operation all in a line.
std::vector<std::string> gaps_of(const Panel& panel, const std::vector<std::string>& names) {
  std::vector<std::string> texts(names.size());
  for (const FigureRun& run : panel.runs) {
    for (const SummaryRow& op : run.ops) {
      if (op.status == Status::ok) continue;
      const auto place = std::find(names.begin(), names.end(), op.op_id) - names.begin();
      std::string& text = texts[static_cast<std::size_t>(place)];
      text += (text.empty() ? "" : "; ") + run.bar() + ": " + status_words(op.status);
    }
  }
  return texts;
}

std::string gaps_body(const std::vector<std::string>& texts, double left) {
  std::string body;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    body += fmt::format(
        "  set label {} {} at {:.6g},{} left offset 0.6,0 textcolor '#444444' point pointtype 6 "
        "pointsize 0.6*size linecolor '#444444' front\n",
        i + 1, lacuna::quoted(texts[i]), left, i);
  }
  return body;
}

std::string dots_body(const std::string& name, const Panel& panel, const OpQuantity& quantity,
                      const std::vector<std::string>& names, const std::vector<double>& marks) {
  std::string body =
      fmt::format("  set logscale x\n  set xrange [{:.6g}:{:.6g}]\n", marks.front(), marks.back());
  body += log_tics("x", marks);
  body += fmt::format("  set xlabel {}\n  set yrange [{}:-0.6]\n  set ytics scale 0 (",
                      lacuna::quoted(quantity.label), static_cast<double>(names.size()) - 0.4);
  for (std::size_t i = 0; i < names.size(); ++i) {
    body += fmt::format("{}{} {}", i == 0 ? "" : ", ", lacuna::quoted(names[i]), i);
  }
  body += ")\n" + gaps_body(gaps_of(panel, names), marks.front());
  for (std::size_t i = 0; i < panel.runs.size(); ++i) {
    const std::string label = panel.runs[i].bar();
    body += i == 0 ? "  plot " : ", \\\n       ";
    body += fmt::format(
        "{} skip 1 using (strcol(1) eq {} ? $4 : NaN):3:5:6 with xerrorbars linewidth 0.7 "
        "linecolor '{}' pointtype 0 notitle, \\\n       ",
        quoted(name + ".csv"), quoted(key_cell(label)), panel.styles[i].colour);
    body += fmt::format(
        "{} skip 1 using (strcol(1) eq {} ? $4 : NaN):3 with points linewidth 1.2 linecolor '{}' "
        "pointtype {} pointsize 0.55*size title {}",
        lacuna::quoted(name + ".csv"), lacuna::quoted(key_cell(label)), panel.styles[i].colour,
        panel.styles[i].marker, lacuna::quoted(label));
  }
  return body + "\n";
}

std::string dots_python(const Page& page, const Panel& panel, const OpQuantity& quantity,
                        const std::vector<std::string>& names, const std::vector<double>& marks) {
  std::vector<PythonSeries> series;
  for (std::size_t i = 0; i < panel.runs.size(); ++i) {
    series.push_back({panel.runs[i].bar(), panel.styles[i], false});
  }
  return python_of_dots(page, {quantity.label, names, marks, gaps_of(panel, names)}, series);
}

}  // namespace

void add_op_figures(const FigureData& data, const std::vector<FigureRun>& runs,
                    std::vector<Figure>& figures) {
  for (const Panel& panel : panels(runs)) {
    const std::vector<std::string> names = op_names(panel);
    // one operation is its own total, and of very many the table tells more
    if (names.size() < 2 || names.size() > kMostOps) continue;
    for (const OpQuantity& quantity : kOpQuantities) {
      double low = 0;
      double high = 0;
      Page page;
      page.name = quantity.name + panel.suffix;
      const std::string csv = dots_csv(panel, quantity, names, low, high);
      const bool only_dense = std::all_of(panel.runs.begin(), panel.runs.end(),
                                          [](const auto& run) { return run.pattern == "dense"; });
      if (low == 0 || (only_dense && quantity.of_dense) || panel.runs.size() > 16) continue;
      page.title = figure_title(data, panel.runs);
      page.data_height = 0.16 * static_cast<double>(names.size()) + 0.1;
      page.left = widest(names) + 0.12;
      for (const FigureRun& run : panel.runs) page.legend.push_back(run.bar());
      const std::vector<double> marks = log_marks(low, high);
      const std::string body = dots_body(page.name, panel, quantity, names, marks);
      figures.push_back({page.name, csv, figure_script(page, body),
                         dots_python(page, panel, quantity, names, marks)});
    }
  }
}

std::vector<Figure> make_figures(const FigureData& data) {
  std::vector<Figure> figures;
  const std::vector<FigureRun> runs = figure_runs(data);
  if (runs.empty()) return figures;
  add_density_figures(data, runs, figures);
  // of runs that differ in their seed alone, bars and maps show the first
  std::vector<FigureRun> firsts;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(firsts),
               [](const FigureRun& run) { return !run.repeated; });
  add_sweep_figures(data, firsts, figures);
  add_area_figure(data, firsts, figures);
  add_op_figures(data, firsts, figures);
  add_stack_figures(data, firsts, figures);
  add_energy_figure(data, firsts, figures);
  add_roofline_figure(data, firsts, figures);
  add_bandwidth_figure(data, firsts, figures);
  add_blas_figure(data, firsts, figures);
  add_layer_figures(data, firsts, figures);
  add_map_figures(data, firsts, figures);
  add_layout_map(data, firsts, figures);
  return figures;
}

}  // namespace lacuna

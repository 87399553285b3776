// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

/// Bytes that an operation moves per FLOP if nothing is kept on the way, in fp16: operands read and
/// results written, 2 bytes each, over 2 FLOP for each product.
struct Level {
  const char* name;
  double bytes_per_flop;  // 0: 3/n of a product of n x n matrices
};

constexpr std::array<Level, 5> kLevels = {
    {{"GEMM", 0}, {"GEMV", 1}, {"DOT", 2}, {"AXPY", 3}, {"sparse GEMM", 3}}};

using Shares = std::array<std::optional<double>, kLevels.size()>;  // of peak, per cent, by level

struct MachineLine {
  std::string machine;
  double bytes_per_flop = 0;
  Shares shares;  // the best of its runs
};

/// The level of an operation, as index of kLevels; nothing of what is none of them. A product of a
/// matrix and one column is a GEMV, of two vectors a DOT, and of a vector and a number an AXPY.
std::optional<std::size_t> level_of(const SummaryRow& op) {
  enum : std::size_t { gemm, gemv, dot, axpy, sparse };
  if (op.op == "axpy") return axpy;
  if (op.op == "dot") return dot;
  if (op.op == "gemv") return gemv;
  if (op.op != "gemm" && op.op != "spmm" && op.op != "bmm") return std::nullopt;
  if (op.pattern != "dense") return sparse;
  const auto is_one = [](const std::optional<std::uint64_t>& size) { return size == 1U; };
  if (is_one(op.n) && is_one(op.m)) return dot;
  if (is_one(op.n) && is_one(op.k)) return axpy;
  return is_one(op.n) ? gemv : gemm;
}

void keep_best(const FigureRun& run, Shares& shares) {
  for (const SummaryRow& op : run.ops) {
    const std::optional<std::size_t> level = level_of(op);
    if (op.status != Status::ok || !level || !op.utilisation) continue;
    std::optional<double>& share = shares.at(*level);
    share = std::max(share.value_or(0), *op.utilisation * 100);
  }
}

std::vector<MachineLine> lines_of(const FigureData& data, const std::vector<FigureRun>& runs) {
  std::vector<MachineLine> lines;
  for (const FigureRun& run : runs) {
    const auto peak = data.peaks.find(run.run);
    if (peak == data.peaks.end() || !(peak->second.sram_gbps > 0)) continue;
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const MachineLine& each) { return each.machine == run.machine; });
    if (line == lines.end()) {
      const double ratio = peak->second.sram_gbps / (peak->second.tflops * 1e3);
      line = lines.insert(lines.end(), {run.machine, ratio, {}});
    }
    keep_best(run, line->shares);
  }
  return lines;
}

/// The side of a square product that moves as few bytes per FLOP as the largest operation here.
double side_of(const std::vector<FigureRun>& runs) {
  std::uint64_t side = 0;
  for (const FigureRun& run : runs) {
    for (const SummaryRow& op : run.ops) {
      if (!op.m || !op.k || !op.n) continue;
      side = std::max(side, std::min({*op.m, *op.k, *op.n}));
    }
  }
  return static_cast<double>(std::max<std::uint64_t>(side, 1));
}

double need_of(std::size_t level, double side) {
  const double need = kLevels.at(level).bytes_per_flop;
  return need > 0 ? need : 3 / side;
}

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  names.reserve(kLevels.size());
  for (const Level& level : kLevels) names.emplace_back(level.name);
  return names;
}

std::string level_tics() {
  std::string tics = "  set xtics scale 0 (";
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    tics += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", kLevels.at(i).name, i + 1);
  }
  return tics + ")\n";
}

/// The same levels for Python: bars of what was reached, points of what a memory allows.
PythonLevels python_shares(const FigureData& data, const std::vector<MachineLine>& lines,
                           double low, double width) {
  PythonLevels python{"Share of peak (%)", low, 200, width, level_names(), {}};
  const auto add = [&](PythonMark mark, const char* kind, const std::string& name,
                       const std::string& label, const SeriesStyle& style) {
    python.levels.push_back({mark, kind, name, {label, style, false}});
  };
  unsigned index = 0;
  for (const MachineLine& line : lines) {
    const std::string colour = line_style(++index).colour;
    add(PythonMark::bars, "simulated", line.machine, line.machine, {colour});
    add(PythonMark::points, "allowed", line.machine, line.machine + ", what its memory allows",
        {colour, 2});
  }
  unsigned marker = 4;
  for (const ReferenceMemory& reference : data.references) {
    add(PythonMark::points, "allowed", reference.label, "what " + reference.label + " would allow",
        {"#000000", marker});
    marker += 2;
  }
  return python;
}

/// The rows of the figure of shares, and how they are drawn.
struct ShareRows {
  Figure& figure;
  Page& page;
  std::string plot = {};
  double least = 100;

  void add(const std::string& name, const char* kind, std::size_t level, double place,
           double percent) {
    least = std::min(least, percent);
    figure.csv += csv_line({name, kind, kLevels.at(level).name, fmt::format("{:.4g}", place),
                            fmt::format("{}", percent)});
  }
  void draw(const std::string& name, const char* kind, const std::string& style,
            const std::string& title) {
    page.legend.push_back(title);
    plot += fmt::format(
        "{}{} skip 1 using (strcol(1) eq {} && strcol(2) eq '{}' ? $4 : NaN):5 {} title {}",
        plot.empty() ? "  plot " : ", \\\n       ", quoted(figure.name + ".csv"), quoted(name),
        kind, style, quoted(title));
  }
};

/// What share of its peak each machine reached at each level, beside what its memory, and that of
/// references, would allow.
void add_share_figure(const FigureData& data, const std::vector<FigureRun>& runs,
                      const std::vector<MachineLine>& lines, double side,
                      std::vector<Figure>& figures) {
  Figure figure;
  figure.name = "blas_share";
  figure.csv = csv_line({"name", "kind", "level", "place", "percent_of_peak"});
  Page page;
  page.name = figure.name;
  page.title = figure_title(data, runs);
  page.title.emplace_back("fp16; best simulated run of each level");
  page.left = 0.62;
  ShareRows rows{figure, page};
  const double width = 0.8 / static_cast<double>(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MachineLine& line = lines[i];
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      const double place =
          static_cast<double>(level) + 0.6 + width * (static_cast<double>(i) + 0.5);
      const double allowed = 100 * std::min(1.0, line.bytes_per_flop / need_of(level, side));
      rows.add(line.machine, "allowed", level, place, allowed);
      if (line.shares.at(level) && *line.shares.at(level) > 0) {
        rows.add(line.machine, "simulated", level, place, *line.shares.at(level));
      }
    }
    const SeriesStyle style = line_style(static_cast<unsigned>(i) + 1);  // as in the other figure
    rows.draw(line.machine, "simulated",
              fmt::format("with boxes fillstyle solid 1.0 noborder linecolor '{}'", style.colour),
              line.machine);
    rows.draw(line.machine, "allowed",
              fmt::format("with points pointtype 2 pointsize 0.7 linewidth 1.2 linecolor '{}'",
                          style.colour),
              line.machine + ", what its memory allows");
  }
  for (std::size_t i = 0; i < data.references.size(); ++i) {
    const ReferenceMemory& reference = data.references[i];
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      rows.add(reference.label, "allowed", level, static_cast<double>(level) + 1,
               100 * std::min(1.0, reference.bytes_per_flop / need_of(level, side)));
    }
    rows.draw(reference.label, "allowed",
              fmt::format("with points pointtype {} pointsize 0.7 linecolor '#000000'", 4 + 2 * i),
              "what " + reference.label + " would allow");
  }
  std::string body = fmt::format("  set logscale y\n  set boxwidth {:.4g}\n", width * 0.9);
  body += fmt::format("  set xrange [0.4:5.6]\n  set yrange [{:.6g}:200]\n", rows.least / 3);
  body += "  set format y '%g'\n  set ylabel 'Share of peak (%)'\n" + level_tics();
  figure.script = figure_script(page, body + rows.plot + "\n");
  figure.python = python_of_levels(page, python_shares(data, lines, rows.least / 3, width * 0.9));
  figures.push_back(figure);
}

/// True if an operation of vectors, or of a matrix and a vector, is among the runs.
bool has_blas_rows(const std::vector<FigureRun>& runs) {
  for (const FigureRun& run : runs) {
    for (const SummaryRow& op : run.ops) {
      const std::optional<std::size_t> level = level_of(op);
      const std::string name = level ? kLevels.at(*level).name : "";
      if (name == "GEMV" || name == "DOT" || name == "AXPY") return true;
    }
  }
  return false;
}

std::string needs_rows(double side) {
  std::string rows;
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    rows += csv_line({"needs", kLevels.at(i).name, fmt::format("{}", i + 1),
                      fmt::format("{}", need_of(i, side))});
  }
  return rows;
}

bool has_shares(const MachineLine& line) {
  return std::any_of(line.shares.begin(), line.shares.end(),
                     [](const std::optional<double>& share) { return share.value_or(0) > 0; });
}

}  // namespace

void add_blas_figure(const FigureData& data, const std::vector<FigureRun>& runs,
                     std::vector<Figure>& figures) {
  const std::vector<MachineLine> lines = lines_of(data, runs);
  const double side = side_of(runs);
  if (lines.empty() || side < 2 || !has_blas_rows(runs)) return;
  Figure figure;
  figure.name = "blas";
  figure.csv = csv_line({"kind", "name", "place", "bytes_per_flop"}) + needs_rows(side);
  double least = 3 / side;
  Page page;
  page.name = figure.name;
  page.title = figure_title(data, runs);
  page.title.push_back(fmt::format("fp16; GEMM of side {:.0f}", side));
  page.left = 0.55;
  page.legend = {"needed"};
  std::string plot = fmt::format(
      "  plot {} skip 1 using (strcol(1) eq 'needs' ? $3 : NaN):4 with boxes fillstyle solid 1.0 "
      "noborder linecolor '#56B4E9' title 'needed'",
      quoted(figure.name + ".csv"));
  PythonLevels python{"Bytes per FLOP", 0, 10, 0.6, level_names(), {}};
  python.levels.push_back({PythonMark::bars, "needs", "", {"needed", {"#56B4E9"}, false}});
  const auto add_line = [&](const std::string& label, double value, unsigned index) {
    const SeriesStyle style{line_style(index + 1).colour, 0, index + 1};
    python.levels.push_back({PythonMark::line, "gives", label, {label, style}});
    least = std::min(least, value);
    figure.csv += csv_line({"gives", label, "", fmt::format("{}", value)});
    page.legend.push_back(label);
    plot +=
        fmt::format(", \\\n       {} with lines linewidth 1.2 dashtype {} linecolor '{}' title {}",
                    value, index + 1, style.colour, quoted(label));
  };
  unsigned index = 0;
  for (const MachineLine& line : lines) {
    add_line(fmt::format("{} gives {:.3g}", line.machine, line.bytes_per_flop), line.bytes_per_flop,
             index++);
  }
  for (const ReferenceMemory& reference : data.references) {
    add_line(fmt::format("{} gives {:.2g}", reference.label, reference.bytes_per_flop),
             reference.bytes_per_flop, index++);
  }
  std::string body = "  set logscale y\n  set boxwidth 0.6\n  set xrange [0.4:5.6]\n";
  body += fmt::format("  set yrange [{:.6g}:10]\n", least / 3);
  body += "  set format y '%.3g'\n  set ylabel 'Bytes per FLOP'\n" + level_tics();
  figure.script = figure_script(page, body + plot + "\n");
  python.low = least / 3;
  figure.python = python_of_levels(page, python);
  figures.push_back(figure);
  const bool any = std::any_of(lines.begin(), lines.end(), has_shares);
  if (any) add_share_figure(data, runs, lines, side, figures);
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/report/figures/figure_parts.hpp"
#include "sim/report/json_figure.hpp"
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

using LevelShares =
    std::array<std::optional<double>, kLevels.size()>;  // of peak, per cent, by level

struct MachineLine {
  std::string machine;
  double bytes_per_flop = 0;
  LevelShares shares;  // the best of its runs
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

void keep_best(const FigureRun& run, LevelShares& shares) {
  for (const SummaryRow& op : run.ops) {
    const std::optional<std::size_t> level = level_of(op);
    if (op.status != Status::ok || !level || !op.utilisation) continue;
    std::optional<double>& share = shares.at(*level);
    share = std::max(share.value_or(0), *op.utilisation * 100);
  }
}

std::vector<MachineLine> lines_of(const FigureRuns& runs) {
  std::vector<MachineLine> lines;
  for (const FigureRun& run : runs) {
    if (!run.peaks || !(run.peaks->sram_gbps > 0)) continue;
    const double ratio = run.peaks->sram_gbps / (run.peaks->tflops * 1e3);
    const auto same = [&](const MachineLine& each) { return each.machine == run.machine; };
    keep_best(run, find_or_add(lines, same, {run.machine, ratio, {}}).shares);
  }
  return lines;
}

/// The side of a square product that moves as few bytes per FLOP as the largest operation here.
double side_of(const FigureRuns& runs) {
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

/// The levels from the left, over a logarithmic axis.
Chart level_chart(const char* name, std::vector<std::string> title) {
  Chart chart;
  chart.page.name = name;
  chart.page.title = std::move(title);
  chart.x.names = true;
  chart.x.from = 0.4;
  chart.x.to = static_cast<double>(kLevels.size()) + 0.6;
  for (const Level& level : kLevels) {
    chart.x.marks.emplace_back(static_cast<double>(chart.x.marks.size() + 1), level.name);
  }
  chart.y.log = true;
  return chart;
}

/// The figure of shares: its rows, and how they are drawn.
struct Shares {
  Chart chart;
  std::string rows = {};
  double least = 100;

  void add(const std::string& name, const char* kind, std::size_t level, double place,
           double percent) {
    least = std::min(least, percent);
    rows += csv_row(name, kind, kLevels.at(level).name, fmt::format("{:.4g}", place), percent);
  }
  void draw(Mark mark, const std::string& name, const std::string& label,
            const SeriesStyle& style) {
    const char* const kind = mark == Mark::bars ? "simulated" : "allowed";
    ChartLayer layer{mark, {{"name", name}, {"kind", kind}}, "place", "percent_of_peak", style,
                     label};
    layer.size = 0.7;
    chart.layers.push_back(std::move(layer));
  }
};

/// What share of its peak each machine reached at each level, beside what its memory, and that of
/// references, would allow.
void add_share_figure(const std::vector<ReferenceMemory>& references, const FigureRuns& runs,
                      const std::vector<MachineLine>& lines, double side, Figures& figures) {
  std::vector<std::string> title = figure_title(runs);
  title.emplace_back("fp16; best simulated run of each level");
  Shares all{level_chart("blas_share", std::move(title))};
  all.chart.page.left = 0.62;
  all.chart.columns = {"name", "kind", "level", "place", "percent_of_peak"};
  const double width = 0.8 / static_cast<double>(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MachineLine& line = lines[i];
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      const double place =
          static_cast<double>(level) + 0.6 + width * (static_cast<double>(i) + 0.5);
      const double allowed = 100 * std::min(1.0, line.bytes_per_flop / need_of(level, side));
      all.add(line.machine, "allowed", level, place, allowed);
      if (line.shares.at(level).value_or(0) > 0) {
        all.add(line.machine, "simulated", level, place, *line.shares.at(level));
      }
    }
    const SeriesStyle style = line_style(static_cast<unsigned>(i) + 1);  // as in the other figure
    all.draw(Mark::bars, line.machine, line.machine, style);
    all.draw(Mark::points, line.machine, line.machine + ", what its memory allows",
             {style.colour, 2});
  }
  unsigned marker = 4;
  for (const ReferenceMemory& reference : references) {
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      all.add(reference.label, "allowed", level, static_cast<double>(level) + 1,
              100 * std::min(1.0, reference.bytes_per_flop / need_of(level, side)));
    }
    all.draw(Mark::points, reference.label, "what " + reference.label + " would allow",
             {"#000000", marker});
    marker += 2;
  }
  all.chart.bar_width = width * 0.9;
  all.chart.y = {"Share of peak (%)", true, all.least / 3, 200};
  figures.push_back(draw(all.chart, all.rows));
}

/// True if an operation of vectors, or of a matrix and a vector, is among the runs.
bool has_blas_rows(const FigureRuns& runs) {
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
    rows += csv_row("needs", kLevels.at(i).name, i + 1, need_of(i, side));
  }
  return rows;
}

bool has_shares(const MachineLine& line) {
  return any_of(line.shares,
                [](const std::optional<double>& share) { return share.value_or(0) > 0; });
}

}  // namespace

void add_blas_figure(const std::vector<ReferenceMemory>& references, const FigureRuns& runs,
                     Figures& figures) {
  const std::vector<MachineLine> lines = lines_of(runs);
  const double side = side_of(runs);
  if (lines.empty() || side < 2 || !has_blas_rows(runs)) return;
  std::vector<std::string> title = figure_title(runs);
  title.push_back(fmt::format("fp16; GEMM of side {:.0f}", side));
  Chart chart = level_chart("blas", std::move(title));
  chart.page.left = 0.55;
  chart.bar_width = 0.6;
  chart.columns = {"kind", "name", "place", "bytes_per_flop"};
  std::string rows = needs_rows(side);
  chart.layers.push_back(
      {Mark::bars, {{"kind", "needs"}}, "place", "bytes_per_flop", {"#56B4E9"}, "needed"});
  double least = 3 / side;
  unsigned index = 0;
  const auto add_line = [&](const std::string& label, double value) {
    ChartLayer line;
    line.mark = Mark::level;
    line.value = value;
    line.label = label;
    ++index;
    line.style = {line_style(index).colour, 0, index};
    chart.layers.push_back(std::move(line));
    least = std::min(least, value);
    rows += csv_row("gives", label, "", value);
  };
  for (const MachineLine& line : lines) {
    add_line(fmt::format("{} gives {:.3g}", line.machine, line.bytes_per_flop),
             line.bytes_per_flop);
  }
  for (const ReferenceMemory& reference : references) {
    add_line(fmt::format("{} gives {:.2g}", reference.label, reference.bytes_per_flop),
             reference.bytes_per_flop);
  }
  chart.y = {"Bytes per FLOP", true, least / 3, 10};
  figures.push_back(draw(chart, rows));
  const bool any = any_of(lines, has_shares);
  if (any) add_share_figure(references, runs, lines, side, figures);
}

}  // namespace lacuna

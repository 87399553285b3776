// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim/report/csv_files.hpp"
#include "sim/report/figure_parts.hpp"

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

// NVIDIA A100 data sheet: 1555 GB/s of HBM2, 312 TFLOP/s in fp16
constexpr double kDramBytesPerFlop = 1555e9 / 312e12;

struct MachineLine {
  std::string machine;
  double bytes_per_flop = 0;
  std::optional<double> dense_share;   // of peak, best of its dense runs, per cent
  std::optional<double> sparse_share;  // of its sparse runs
};

void keep_best(std::optional<double>& best, const std::optional<double>& share) {
  if (share) best = std::max(best.value_or(0), *share * 100);
}

std::vector<MachineLine> lines_of(const FigureData& data, const std::vector<FigureRun>& runs) {
  std::vector<MachineLine> lines;
  for (const FigureRun& run : runs) {
    const auto peak = data.peaks.find(run.run);
    if (!run.ok() || peak == data.peaks.end() || !(peak->second.sram_gbps > 0)) continue;
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const MachineLine& each) { return each.machine == run.machine; });
    if (line == lines.end()) {
      const double ratio = peak->second.sram_gbps / (peak->second.tflops * 1e3);
      line = lines.insert(lines.end(), {run.machine, ratio, std::nullopt, std::nullopt});
    }
    keep_best(run.pattern == "dense" ? line->dense_share : line->sparse_share,
              run.total.utilisation);
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

std::string share_text(const MachineLine& line) {
  const auto text = [](const std::optional<double>& share) {
    return share ? fmt::format("{:.2g} %", *share) : std::string("-");
  };
  return fmt::format("{} gives {:.3g}; of peak: GEMM {}; sparse {}", line.machine,
                     line.bytes_per_flop, text(line.dense_share), text(line.sparse_share));
}

}  // namespace

void add_blas_figure(const FigureData& data, const std::vector<FigureRun>& runs,
                     std::vector<Figure>& figures) {
  const std::vector<MachineLine> lines = lines_of(data, runs);
  const double side = side_of(runs);
  if (lines.empty() || side < 2) return;
  Figure figure;
  figure.name = "blas";
  figure.csv = csv_line({"kind", "name", "place", "bytes_per_flop"});
  double least = std::min(3 / side, kDramBytesPerFlop);
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const double need = kLevels.at(i).bytes_per_flop > 0 ? kLevels.at(i).bytes_per_flop : 3 / side;
    figure.csv +=
        csv_line({"needs", kLevels.at(i).name, fmt::format("{}", i + 1), fmt::format("{}", need)});
  }
  Page page;
  page.name = figure.name;
  page.title = figure_title(data, runs);
  page.title.push_back(fmt::format("fp16; GEMM of side {:.0f}", side));
  page.legend = {"needed"};
  std::string plot = fmt::format(
      "  plot {} skip 1 using (strcol(1) eq 'needs' ? $3 : NaN):4 with boxes fillstyle solid 1.0 "
      "noborder linecolor '#56B4E9' title 'needed'",
      quoted(figure.name + ".csv"));
  const auto add_line = [&](const std::string& label, double value, unsigned index) {
    const SeriesStyle style = line_style(index + 1);
    least = std::min(least, value);
    figure.csv += csv_line({"gives", label, "", fmt::format("{}", value)});
    page.legend.push_back(label);
    plot +=
        fmt::format(", \\\n       {} with lines linewidth 1.2 dashtype {} linecolor '{}' title {}",
                    value, index + 1, style.colour, quoted(label));
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    add_line(share_text(lines[i]), lines[i].bytes_per_flop, static_cast<unsigned>(i));
  }
  add_line("DRAM of an A100 (data sheet)", kDramBytesPerFlop, static_cast<unsigned>(lines.size()));
  std::string body = "  set logscale y\n  set boxwidth 0.6\n  set xrange [0.4:5.6]\n";
  body += fmt::format("  set yrange [{:.6g}:10]\n", least / 3);
  body += "  set format y '%.3g'\n  set ylabel 'Bytes per FLOP'\n  set xtics scale 0 (";
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    body += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", kLevels.at(i).name, i + 1);
  }
  figure.script = figure_script(page, body + ")\n" + plot + "\n");
  figures.push_back(figure);
}

}  // namespace lacuna

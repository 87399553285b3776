// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/figures/figure_stacked.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

namespace {

double in_ms(Cycle ns) { return static_cast<double>(ns) * 1e-6; }

/// What gnuplot does with the bars, and the words of the legend.
std::string span_body(const SpanPicture& picture, const std::vector<Coloured>& present,
                      Page& page) {
  Cycle end = 0;
  for (const SpanPicture::Bar& bar : picture.bars) end = std::max(end, bar.to);
  std::string body = fmt::format(
      "  unset grid\n  set xrange [0:{:.6f}]\n  set yrange [{}:-0.5]\n  set xlabel 'ms'\n"
      "  set ytics (",
      in_ms(end), static_cast<double>(picture.tracks.size()) - 0.5);
  for (std::size_t track = 0; track < picture.tracks.size(); ++track) {
    body += fmt::format("{}'{}' {}", track == 0 ? "" : ", ", picture.tracks[track], track);
  }
  body += ")\n  of(use) = ";
  for (const auto& [kind, colour] : present) {
    body += fmt::format("use eq '{}' ? {} : ", kind, colour_variable(colour));
  }
  body +=
      "ink\n  number(c) = int('0x'.c[2:7])\n  plot 'pipeline.csv' "
      "skip 1 using 3:1:3:4:($1-0.4):($1+0.4):(number(of(strcol(2)))) with "
      "boxxyerror fillstyle solid 1.0 noborder linecolor rgb variable notitle";
  for (const auto& [kind, colour] : present) {
    page.legend.push_back(kind);
    body += fmt::format(
        ", \\\n       NaN with boxes fillstyle solid 1.0 noborder linecolor '{}' title '{}'",
        colour, kind);
  }
  return body + "\n";
}

Figure stacked(const StackedFigure& figure) {
  std::vector<Figure> figures;
  add_stacked(figure, figures);
  return figures.front();
}

}  // namespace

Figure span_figure(const SpanPicture& picture) {
  Page page;
  page.name = "pipeline";
  page.title = picture.title;
  page.data_height = 0.13 * static_cast<double>(picture.tracks.size()) + 0.15;
  page.left = picture.left;
  page.right = 0.2;
  std::string csv = picture.track + ",use,from_ms,to_ms\n";
  std::vector<bool> has(picture.kinds.size());
  for (const SpanPicture::Bar& bar : picture.bars) {
    has[bar.kind] = true;
    csv += fmt::format("{},{},{:.6f},{:.6f}\n", bar.track, picture.kinds[bar.kind].first,
                       in_ms(bar.from), in_ms(bar.to));
  }
  std::vector<Coloured> present;
  for (std::size_t kind = 0; kind < has.size(); ++kind) {
    if (has[kind]) present.push_back(picture.kinds[kind]);
  }
  const std::string body = span_body(picture, present, page);
  const PythonSpans python{picture.track, "use",          "from_ms", "to_ms", "",
                           "ms",          picture.tracks, present};
  return {page.name, csv, figure_script(page, body), python_of_spans(page, python)};
}

Figure time_figure(const std::vector<std::string>& title, const std::vector<Coloured>& uses,
                   const std::vector<std::vector<std::uint64_t>>& ns) {
  StackedFigure figure;
  figure.name = "time_stack";
  figure.title = title;
  figure.x_label = "ms";
  for (const auto& [use, colour] : uses) figure.parts.push_back({use, colour});
  for (std::size_t chip = 0; chip < ns.size(); ++chip) {
    StackedBar bar;
    bar.label = fmt::format("chip {}", chip);
    for (const std::uint64_t each : ns[chip]) bar.values.push_back(in_ms(each));
    figure.bars.push_back(std::move(bar));
  }
  return stacked(figure);
}

Figure places_figure(const std::vector<std::string>& title, const std::vector<Coloured>& parts,
                     const std::vector<std::pair<std::string, MemoryOfPlace>>& places) {
  StackedFigure figure;
  figure.name = "memory";
  figure.title = title;
  figure.x_label = "MB";
  figure.note_label = "of what the chip has";
  for (const auto& [part, colour] : parts) figure.parts.push_back({part, colour});
  for (const auto& [label, place] : places) {
    StackedBar bar;
    bar.label = label;
    for (const auto& part : place.parts) {
      bar.values.push_back(static_cast<double>(part.second) * 1e-6);
    }
    bar.note = fmt::format("{:.0f} %", 100.0 * static_cast<double>(place.total()) /
                                           static_cast<double>(place.capacity));
    figure.bars.push_back(std::move(bar));
  }
  return stacked(figure);
}

}  // namespace lacuna

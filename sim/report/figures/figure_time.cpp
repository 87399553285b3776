// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_python.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostDrawnCells = 16384;

std::string load_csv(const LoadMap& map) {
  std::string csv = csv_line({"column", "row", map.quantity});
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const double value = map.values[i];
    csv += csv_line({fmt::format("{}", i % map.columns), fmt::format("{}", i / map.columns),
                     std::isnan(value) ? "NaN" : fmt::format("{}", value)});
  }
  return csv;
}

/// The tracks in the order of their first spans.
std::vector<std::string> tracks_of(const std::vector<PhaseSpan>& spans) {
  std::vector<std::string> tracks;
  for (const PhaseSpan& span : spans) {
    if (std::find(tracks.begin(), tracks.end(), span.track) == tracks.end()) {
      tracks.push_back(span.track);
    }
  }
  return tracks;
}

std::string phases_csv(const std::vector<PhaseSpan>& spans,
                       const std::vector<std::string>& tracks) {
  std::string csv = csv_line({"track", "phase", "layer", "place", "from", "to", "busy"});
  for (const PhaseSpan& span : spans) {
    const auto place = std::find(tracks.begin(), tracks.end(), span.track) - tracks.begin();
    csv += csv_line({span.track, span.phase, layer_name(span.layer), fmt::format("{}", place),
                     fmt::format("{}", span.from), fmt::format("{}", span.to),
                     fmt::format("{}", span.busy)});
  }
  return csv;
}

/// Round, and so that there are at most five marks: more, of seven figures each, would run into
/// each other.
std::uint64_t mark_distance(std::uint64_t end) {
  for (std::uint64_t decade = 1;; decade *= 10) {
    for (const std::uint64_t digit : {1U, 2U, 5U}) {
      if (digit * decade * 5 >= end) return digit * decade;
    }
  }
}

/// The colour of a span, in gnuplot's words: its layer's, moved towards white: all of it where
/// every unit worked, a third where none did.
std::string colour_of_spans(const std::vector<Layer>& layers) {
  std::string text =
      "  share(busy) = (1 + 2*(busy < 0 ? 0 : busy > 1 ? 1 : busy))/3.0\n"
      "  paler(part, busy) = int(255.5 - (255 - int('0x'.part))*share(busy))\n"
      "  shaded(c, busy) = 65536*paler(c[2:3], busy) + 256*paler(c[4:5], busy) + paler(c[6:7], "
      "busy)"
      "\n  of(layer) = ";
  for (const Layer layer : layers) {
    text += fmt::format("layer eq '{}' ? {} : ", layer_name(layer),
                        colour_variable(layer_colour(layer)));
  }
  return text + "ink\n";
}

std::string phases_body(const std::string& name, const std::vector<std::string>& tracks,
                        const std::vector<Layer>& layers, std::uint64_t end) {
  std::string body = "  unset grid\n  set border 1\n";
  body += fmt::format("  set xrange [0:{}]\n  set yrange [{}:-0.6]\n", end,
                      static_cast<double>(tracks.size()) - 0.4);
  body += fmt::format("  set xtics {} format '%.0f'\n  set xlabel 'Cycle'\n", mark_distance(end));
  body += "  set ytics scale 0 (";
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    body += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(tracks[i]), i);
  }
  body += ")\n" + colour_of_spans(layers);
  body += fmt::format(
      "  plot {} skip 1 using 5:4:5:6:($4-0.4):($4+0.4):(shaded(of(strcol(3)), $7)) with "
      "boxxyerror "
      "fillstyle solid 1.0 noborder linecolor rgb variable notitle",
      quoted(name + ".csv"));
  for (const Layer layer : layers) {
    body += fmt::format(
        ", \\\n       NaN with boxes fillstyle solid 1.0 noborder linecolor '{}' title '{}'",
        layer_colour(layer), layer_name(layer));
  }
  return body + "\n";
}

/// A round number of about half of `most`.
double half_of(double most) {
  const double ten = std::pow(10.0, std::floor(std::log10(most / 2)));
  const double digit = most / 2 / ten;
  return ten * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

}  // namespace

Figure draw_load_map(const LoadMap& map) {
  const std::size_t rows = (map.values.size() + map.columns - 1) / map.columns;
  double most = 0;
  for (const double value : map.values) {
    if (!std::isnan(value)) most = std::max(most, value);
  }
  Page page;
  page.name = map.name;
  page.title = map.title;
  page.right = 0.62;
  // square cells, but no page higher than it is wide twice
  page.aspect = std::clamp(static_cast<double>(rows) / static_cast<double>(map.columns), 0.18, 2.2);
  std::string body = "  unset grid\n  set border 0\n";
  body += fmt::format("  set xrange [-0.5:{}]\n  set yrange [{}:-0.5]\n",
                      static_cast<double>(map.columns) - 0.5, static_cast<double>(rows) - 0.5);
  body += fmt::format("  set cbrange [0:{:.6g}]\n", most > 0 ? most : 1);
  body += kShades;
  body +=
      "  set colorbox user origin screen (1 - 0.55*unit/width),graph 0 size screen 0.02,graph 1\n"
      "  set ylabel 'Row'\n";
  // beside a low map there is no room for its name, nor for many numbers
  if (page.aspect < kLowMap) {
    body += fmt::format("  set cbtics {:.6g}\n  set xlabel {}\n", half_of(most > 0 ? most : 1),
                        quoted("Column; shades: " + map.quantity));
  } else {
    body +=
        fmt::format("  set cblabel {} offset 0.8,0\n  set xlabel 'Column'\n", quoted(map.quantity));
  }
  // drawn cells are sharp on paper, but show their seams in a bitmap, and very many are too many
  const char* const drawn = map.values.size() > kMostDrawnCells ? "0" : "format ne 'png'";
  body += fmt::format(
      "  if ({1}) {{\n    plot {0} skip 1 using 1:2:3 with image pixels notitle\n"
      "  }} else {{\n    plot {0} skip 1 using 1:2:3 with image notitle\n  }}\n",
      quoted(map.name + ".csv"), drawn);
  return {map.name, load_csv(map), figure_script(page, body),
          python_of_load(page, map.quantity, most > 0 ? most : 1)};
}

Figure draw_phases(const std::string& name, const std::vector<std::string>& title,
                   const std::vector<PhaseSpan>& spans) {
  const std::vector<std::string> tracks = tracks_of(spans);
  std::uint64_t end = 1;
  std::set<Layer> present;
  for (const PhaseSpan& span : spans) {
    end = std::max(end, span.to);
    present.insert(span.layer);
  }
  const std::vector<Layer> layers(present.begin(), present.end());
  Page page;
  page.name = name;
  page.title = title;
  page.data_height = 0.13 * static_cast<double>(tracks.size()) + 0.15;
  page.left = widest(tracks) + 0.12;
  page.right = 0.2;
  PythonSpans python{"place", "layer", "from", "to", "busy", "Cycle", tracks, {}};
  for (const Layer layer : layers) {
    page.legend.emplace_back(layer_name(layer));
    python.kinds.emplace_back(layer_name(layer), layer_colour(layer));
  }
  return {name, phases_csv(spans, tracks),
          figure_script(page, phases_body(name, tracks, layers, end)),
          python_of_spans(page, python)};
}

}  // namespace lacuna

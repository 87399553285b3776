// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/replaced.hpp"
#include "sim/report/figures/figure_check.hpp"

namespace lacuna {

namespace {

constexpr double kFontPoints = 7;
constexpr double kLineIn = 0.115;

// of figure_colours()
constexpr const char* kBlack = "#000000";
constexpr const char* kOrange = "#E69F00";
constexpr const char* kSkyBlue = "#56B4E9";
constexpr const char* kGreen = "#009E73";
constexpr const char* kBlue = "#0072B2";
constexpr const char* kVermilion = "#D55E00";
constexpr const char* kPurple = "#CC79A7";

struct OwnStyle {
  const char* pattern;
  const char* colour;
  unsigned shape;
};

// the patterns of most comparisons look the same in all of them
constexpr std::array<OwnStyle, 6> kOwn{{{"dense", kBlack, 0},
                                        {"unstructured", kBlue, 1},
                                        {"block 4", kSkyBlue, 2},
                                        {"block 8", kGreen, 3},
                                        {"block 16", kVermilion, 4},
                                        {"nm", kOrange, 5}}};
constexpr std::array<const char*, 4> kOthers{kPurple, kOrange, "#666666", kGreen};

// filled and open square, circle, triangles up and down, diamond, pentagon
constexpr std::array<unsigned, 6> kFilled{5, 7, 9, 11, 13, 15};
constexpr std::array<unsigned, 6> kOpen{4, 6, 8, 10, 12, 14};

/// The lay-out that follows from the look: what is given for letters of seven points grows with the
/// letters, and the legend has as many columns as the width has room for.
std::string layout_of(const Page& page) {
  std::string text = fmt::format(
      "# the lay-out, in inches\n"
      "greater(a, b) = a > b ? a : b\n"
      "unit = points/7.0\n"
      "line = {}*unit\n"
      "room = floor(width/(({:.5f} + 0.36)*unit))\n"
      "columns = room < 1 ? 1 : room > 6 ? 6 : room\n"
      "rows = show_legend ? greater(ceil({}.0/columns), 1) : 0\n"
      "left = {:.5f}*unit\n"
      "right = {:.5f}*unit\n"
      "above = 0.08*unit + line*title_lines\n"
      "below = 0.40*unit + rows*line\n",
      kLineIn, page.longest_label, page.legend, page.left, page.right);
  const std::string natural = page.aspect > 0
                                  ? fmt::format("(width - left - right)*{:.6f}", page.aspect)
                                  : fmt::format("{:.5f}*unit", page.data_height);
  // gnuplot makes a legend no higher than the data, and wider than the page if need be
  text += fmt::format(
      "data = height > 0 ? greater(height - above - below, 0.2) : greater({}, 1.1*rows*line)\n"
      "page = above + data + below\n",
      natural);
  return text;
}

/// The same page as a drawing of 144 units per inch, as paper, and as a bitmap of 300 dots per
/// inch. Terminals have their sizes for 96 dots per inch; a line of epscairo is half as wide as one
/// of pdfcairo.
std::string terminals(const std::string& name) {
  return fmt::format(
      "  if (format eq 'svg') {{ eval sprintf(\"set terminal svg noenhanced size %.0f,%.0f font "
      "'%s,%.2f' linewidth 1.5 background 'white' name '{}'\", width*144, page*144, font, "
      "points*2) }}\n"
      "  if (format eq 'pdf') {{ eval sprintf(\"set terminal pdfcairo noenhanced size %gin,%.3fin "
      "font '%s,%g' fontscale 0.75 linewidth 1\", width, page, font, points) }}\n"
      "  if (format eq 'eps') {{ eval sprintf(\"set terminal epscairo noenhanced size %gin,%.3fin "
      "font '%s,%g' fontscale 0.75 linewidth 2\", width, page, font, points) }}\n"
      "  if (format eq 'png') {{ eval sprintf(\"set terminal pngcairo noenhanced size %.0f,%.0f "
      "font '%s,%g' fontscale 3.125 linewidth 3.13 pointscale 3.13\", width*300, page*300, font, "
      "points) }}\n",
      name);
}

/// Colours, said by themselves or by name, as variables of the head of the script.
std::string with_names(std::string text) {
  for (const auto& [name, colour] : figure_colours()) {
    for (const char* const what : {"linecolor", "textcolor", "fillcolor"}) {
      for (const std::string& said : {name, colour}) {
        text = replaced(std::move(text), fmt::format("{} '{}'", what, said),
                        fmt::format("{} rgb {}", what, name));
      }
    }
  }
  return text;
}

/// The variables of the look, as lines of a script.
std::string look_of(const Page& page) {
  const FigureLook& look = page.look;
  const std::string own = look.title == page.title || look.title.empty() ? "" : look.title.front();
  std::string text = fmt::format(
      "# the look\n"
      "width = {:.6g}  # inches\n"
      "height = {:.6g}  # inches; 0: as high as what it shows\n"
      "font = {}\n"
      "points = {:.6g}\n"
      "formats = '{}'  # or eps\n"
      "title_lines = {}  # above the data\n"
      "own_title = {}  # in place of them\n"
      "show_legend = {:d}\n",
      look.width, look.height, quoted(look.font), look.points, look.formats, look.title.size(),
      quoted(own), look.legend);
  for (const auto& [name, usual] : figure_colours()) {
    text += fmt::format("{} = '{}'\n", name, look.colours.at(name));
  }
  return text;
}

const OwnStyle* own_style(const std::string& pattern) {
  return find_where(kOwn, [&](const OwnStyle& style) { return pattern == style.pattern; });
}

}  // namespace

SeriesStyle line_style(unsigned index) {
  constexpr std::array<const char*, 7> kLineColours{kBlue,   kVermilion, kGreen, kBlack,
                                                    kOrange, kSkyBlue,   kPurple};
  return {kLineColours.at(index % kLineColours.size()), kFilled.at(index % kFilled.size()),
          1 + index / static_cast<unsigned>(kLineColours.size()) % 3};
}

bool has_own_colour(const std::string& pattern) { return own_style(pattern) != nullptr; }

SeriesStyle series_style(unsigned machine, const std::string& pattern, unsigned other) {
  const OwnStyle* own = own_style(pattern);
  const unsigned shape = own != nullptr ? own->shape : (5 + other) % 6;
  SeriesStyle style;
  style.colour = own != nullptr ? own->colour : kOthers.at(other % kOthers.size());
  style.marker = machine % 2 == 0 ? kFilled.at(shape) : kOpen.at(shape);
  style.dash = 1 + machine % 5;
  return style;
}

const char* layer_colour(Layer layer) {
  switch (layer) {
    case Layer::compute:
      return kBlue;
    case Layer::exchange:
      return kSkyBlue;
    case Layer::sync:
      return kPurple;
    case Layer::stall:
      return kVermilion;
    case Layer::imbalance:
      return kOrange;
    case Layer::idle:
      return "#D9D9D9";
  }
  return kBlack;
}

std::string file_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "''") + "'"; }

std::string key_cell(std::string name) {
  std::replace(name.begin(), name.end(), ',', ';');
  return name;
}

std::string short_number(double value) {
  for (int digits = 1; digits < 6; ++digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    if (std::abs(std::stod(text) - value) <= std::abs(value) * 0.001) return text;
  }
  return fmt::format("{:.6g}", value);
}

std::vector<std::string> round_texts(const std::set<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) {
    const std::string text = short_number(value);
    if (texts.empty() || value / std::stod(texts.back()) > 1.05) {
      texts.push_back(text);
    } else if (text.size() < texts.back().size()) {
      texts.back() = text;
    }
  }
  return texts;
}

std::string nearest_text(const std::vector<std::string>& texts, double value) {
  const auto distance = [value](const std::string& text) {
    return std::abs(std::log(value / std::stod(text)));
  };
  const auto found = std::min_element(
      texts.begin(), texts.end(),
      [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  return found == texts.end() ? short_number(value) : *found;
}

std::string FigureLook::shown(const std::string& text) const {
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::pair<const std::string, std::string>* best = nullptr;
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    for (const auto& label : labels) {
      const std::size_t end = at + label.first.size();
      const bool fits = begins && text.compare(at, label.first.size(), label.first) == 0 &&
                        (end == text.size() || !is_of_word(text[end]));
      if (fits && (best == nullptr || label.first.size() > best->first.size())) best = &label;
    }
    result += best == nullptr ? text.substr(at, 1) : best->second;
    at += best == nullptr ? 1 : best->first.size();
  }
  return lacuna::quoted(result);
}

double text_width(const std::string& text) {
  // of the height of the font, of which there are 72 points in an inch; letters are 0.5 wide on
  // average
  double width = 0;
  for (const char letter : text) width += std::strchr("mwMW%@", letter) != nullptr ? 0.8 : 0.5;
  return width * kFontPoints / 72;
}

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text));
  return width;
}

std::string figure_script(const Page& page, const std::string& body, const std::string& variables) {
  std::string script = look_of(page) + variables + layout_of(page);
  script += "do for [format in formats] {\n" + terminals(page.name);
  script +=
      "  size = format eq 'svg' ? 1.2 : 1  # markers and lines of text, which terminals size "
      "unlike\n";
  script += fmt::format("  set output {}.format\n", quoted(page.name + "."));
  if (page.interrupted) {
    script +=
        "  set label 2000 'interrupted: not all was simulated' at screen 0.5,0.5 center rotate by "
        "20 "
        "font ',11' textcolor rgb vermilion front\n";
  }
  script += "  set datafile separator comma\n  set border 3 linewidth 0.6 linecolor '#444444'\n";
  script += "  set tics nomirror scale 0.6\n  set grid back linecolor '#CCCCCC' linewidth 0.5\n";
  script += "  set lmargin at screen left/width\n  set rmargin at screen 1 - right/width\n";
  script += "  set tmargin at screen 1 - above/page\n  set bmargin at screen below/page\n";
  // the svg terminal takes letters for a sixth wider than they are, and would put the first
  // column's marks off the page
  script += fmt::format(
      "  set key at screen 0.5,((rows*line + 0.03*unit)/page) center top vertical Left reverse "
      "maxrows greater(rows, 1) samplen 1.6 spacing (format eq 'svg' ? 0.78 : 1) width (format eq "
      "'svg' ? -{:.1f} : 1)\n",
      page.longest_label / text_width("x") / 6);
  script += "  if (!show_legend) { unset key }\n";
  script += "  set xlabel offset 0,(format eq 'svg' ? 0.45 : 0)\n";
  script += "  set ylabel offset (format eq 'svg' ? 1.3 : 0),0\n";
  for (std::size_t i = 0; i < page.title.size(); ++i) {
    script += fmt::format(
        "  if (title_lines > {0} && own_title eq '') {{ set label {1} {2} at screen 0.5,(1 - "
        "line*{0}.6/page) center textcolor '#444444' }}\n",
        i, 1000 + i, page.look.shown(page.title[i]));
  }
  script +=
      "  if (own_title ne '') { set label 1000 own_title at screen 0.5,(1 - line*0.6/page) center "
      "textcolor '#444444' }\n";
  return with_check(page.name, with_names(script + body + "}\nset output\n"));
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace lacuna {

namespace {

constexpr double kFontPoints = 7;
constexpr double kLineIn = 0.115;

// Eight colours that the colour-blind tell apart: M. Okabe and K. Ito, "Color Universal Design",
// 2008. Yellow is left out, because a yellow line is not seen on white.
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

/// The same page as a drawing of 144 units per inch, as paper, and as a bitmap of 300 dots per
/// inch.
std::string terminals(const std::string& name, double height) {
  const double svg = 144;
  const double png = 300;
  const double screen = 96;  // dots per inch for which the other terminals have their sizes
  std::string text = fmt::format(
      "  if (format eq 'svg') {{ set terminal svg noenhanced size {:.0f},{:.0f} font "
      "'Arial,{:.2f}' linewidth {:.2f} background 'white' name {} }}\n",
      kPageWidthIn * svg, height * svg, kFontPoints * svg / 72, svg / screen, quoted(name));
  text += fmt::format(
      "  if (format eq 'pdf') {{ set terminal pdfcairo noenhanced size {}in,{:.3f}in font "
      "'Arial,{}' fontscale {:.3f} linewidth 1 }}\n",
      kPageWidthIn, height, kFontPoints, 72 / screen);
  text += fmt::format(
      "  if (format eq 'png') {{ set terminal pngcairo noenhanced size {:.0f},{:.0f} font "
      "'Arial,{}' fontscale {:.3f} linewidth {:.2f} pointscale {:.2f} }}\n",
      kPageWidthIn * png, height * png, kFontPoints, png / screen, png / screen, png / screen);
  return text;
}

const OwnStyle* own_style(const std::string& pattern) {
  const auto* const found = std::find_if(
      kOwn.begin(), kOwn.end(), [&](const OwnStyle& style) { return pattern == style.pattern; });
  return found == kOwn.end() ? nullptr : found;
}

}  // namespace

SeriesStyle line_style(unsigned index) {
  constexpr std::array<const char*, 7> kColours{kBlue,   kVermilion, kGreen, kBlack,
                                                kOrange, kSkyBlue,   kPurple};
  return {kColours.at(index % kColours.size()), kFilled.at(index % kFilled.size()),
          1 + index / static_cast<unsigned>(kColours.size()) % 3};
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

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

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

double text_width(const std::string& text) {
  // a letter of the font is 0.5 of its height wide, on average, and there are 72 points in an inch
  return 0.5 * kFontPoints / 72 * static_cast<double>(text.size());
}

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text));
  return width;
}

std::string figure_script(const Page& page, const std::string& body) {
  const double sample = 0.36;  // of line and marker before a legend's text
  const double room = kPageWidthIn / (widest(page.legend) + sample);
  const auto entries = static_cast<double>(page.legend.size());
  const double columns = std::clamp(std::floor(room), 1.0, 6.0);
  const double rows = std::max(std::ceil(entries / columns), 1.0);
  const double legend = rows * kLineIn;
  // gnuplot makes a legend no higher than the data, and wider than the page if need be
  const double data = std::max(page.data_height, 1.1 * legend);
  const double above = 0.08 + kLineIn * static_cast<double>(page.title.size());
  const double axis = 0.36;  // marks and name of the horizontal axis
  const double height = above + data + axis + legend + 0.04;

  std::string script =
      fmt::format("# draws {0}.svg, {0}.pdf and {0}.png: gnuplot {0}.gp\n", page.name);
  script += "do for [format in 'svg pdf png'] {\n" + terminals(page.name, height);
  script +=
      "  size = format eq 'svg' ? 1.2 : 1  # markers and lines of text, which terminals size "
      "unlike\n";
  script += fmt::format("  set output {}.format\n", quoted(page.name + "."));
  script += "  set datafile separator comma\n  set border 3 linewidth 0.6 linecolor '#444444'\n";
  script += "  set tics nomirror scale 0.6\n  set grid back linecolor '#CCCCCC' linewidth 0.5\n";
  script += fmt::format("  set lmargin at screen {:.5f}\n  set rmargin at screen {:.5f}\n",
                        page.left / kPageWidthIn, 1 - page.right / kPageWidthIn);
  script += fmt::format("  set tmargin at screen {:.5f}\n  set bmargin at screen {:.5f}\n",
                        1 - above / height, (axis + legend + 0.04) / height);
  script += fmt::format(
      "  set key at screen 0.5,{:.5f} center top vertical Left reverse maxrows {:.0f} samplen "
      "1.6 spacing (format eq 'svg' ? 0.78 : 1)\n",
      (legend + 0.03) / height, rows);
  script += "  set xlabel offset 0,(format eq 'svg' ? 0.45 : 0)\n";
  script += "  set ylabel offset (format eq 'svg' ? 1.3 : 0),0\n";
  for (std::size_t i = 0; i < page.title.size(); ++i) {
    script +=
        fmt::format("  set label {} {} at screen 0.5,{:.5f} center textcolor '#444444'\n", 1000 + i,
                    quoted(page.title[i]), 1 - kLineIn * (static_cast<double>(i) + 0.6) / height);
  }
  return script + body + "}\nset output\n";
}

}  // namespace lacuna

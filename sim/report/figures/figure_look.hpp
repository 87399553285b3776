// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_check.hpp"

namespace lacuna {

/// What of a figure's look is to be another than usual. Everything is a variable at the head of its
/// script, where it can be changed by hand too.
struct FigureLook {
  std::optional<double> width;   // inches
  std::optional<double> height;  // inches; 0: as high as what it shows
  std::optional<std::string> font;
  std::optional<double> points;
  std::map<std::string, std::string> colours;  // "#404040" by a name of figure_colours()
  std::optional<std::string> title;            // a line in place of those above the data; or ""
  std::optional<bool> legend;
  std::map<std::string, std::string> labels;  // what to call what results call otherwise
  std::vector<std::string> formats;           // of figure_formats(); empty: svg, pdf and png
};

/// The figure with another look. Its data stay.
Figure with_look(Figure figure, const FigureLook& look);

/// Whether a name or text that a figure shows has these words, which a label would replace.
bool shows(const Figure& figure, const std::string& words);

/// What stacked bars are stretched to: share, sum, time or dense. RequestError if it is no such
/// word, or if none of the figures has what it needs.
void normalise(std::vector<Figure>& figures, const std::string& how);

}  // namespace lacuna

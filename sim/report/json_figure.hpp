// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_chart.hpp"

namespace lacuna {

/// The figure of a chart: its data are the columns' names and `rows`, as CSV. Its description is
/// JSON: what it shows, with colours by their names, and its `look`. The gnuplot script is made
/// from the description, and redraw.py draws it.
Figure draw(const Chart& chart, const std::string& rows);
Figure draw(const SpanChart& chart, const std::string& rows);
Figure draw(const CellChart& chart, const std::string& rows);
Figure draw(const StackChart& chart, const std::string& rows);

/// True if a text is such a description.
bool is_description(const std::string& text);

/// Members of FigureLook by their names, those that are to be otherwise: {"width": 5, "labels":
/// {"bow": "Bow"}}.
using LookWords = nlohmann::json;

/// The figure with another look. Its data stay.
Figure with_look(const Figure& figure, const LookWords& look);

/// Whether a name or text that a figure shows has these words, which a label would replace.
bool shows(const Figure& figure, const std::string& words);

/// What stacked bars are stretched to: share, sum, time or dense. RequestError if it is no such
/// word, or if none of the figures has what it needs.
void normalise(Figures& figures, const std::string& how);

}  // namespace lacuna

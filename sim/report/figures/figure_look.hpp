// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

/// The figure with another look. Its data stay.
Figure with_look(Figure figure, const FigureLook& look);

/// Whether a name or text that a figure shows has these words, which a label would replace.
bool shows(const Figure& figure, const std::string& words);

/// What stacked bars are stretched to: share, sum, time or dense. RequestError if it is no such
/// word, or if none of the figures has what it needs.
void normalise(std::vector<Figure>& figures, const std::string& how);

}  // namespace lacuna

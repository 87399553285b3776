// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/figures/figure_chart.hpp"

namespace lacuna {

/// The description of a figure beside its data, as JSON that redraw.py reads: what it shows, and a
/// `look` of the variables that the gnuplot script has at its head.
std::string description_of(const Chart& chart);
std::string description_of(const SpanChart& chart);
std::string description_of(const CellChart& chart);
std::string description_of(const StackChart& chart);

/// A description with another look.
std::string described_with(const std::string& description, const FigureLook& look);

/// One of stacked bars that are stretched otherwise.
std::string described_as(const std::string& description, const std::string& normalise);

/// One that says across the data that the run was interrupted.
std::string described_as_interrupted(const std::string& description);

}  // namespace lacuna

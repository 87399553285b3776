// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/run/options.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The look that --style and the options over it ask for. RequestError says what is wrong.
LookWords figure_look(const PlotOptions& plot);

/// The figures that --only names, in the look, normalised as asked; RequestError if a name is of no
/// figure here.
Figures chosen_figures(Figures figures, const PlotOptions& plot);

/// The runs that --run names; all without it.
Runs chosen_runs(Runs records, const PlotOptions& plot);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A measurement of other hardware, to be drawn beside what was simulated and marked as measured.
struct MeasuredPoint {
  std::string label;  // of its series
  double density = 1;
  double tflops = 0;  // useful
};

/// What the memory of other hardware gives for each FLOP of its peak.
struct ReferenceMemory {
  std::string label;
  double bytes_per_flop = 0;
};

/// What is drawn beside runs.
struct FigureExtras {
  std::vector<MeasuredPoint> measured = {};  // of other hardware, over the throughput
  std::vector<ReferenceMemory> references = {};
};

/// A figure as text: the data, and the gnuplot script that draws them. Both are functions of the
/// results alone, and neither names the engine.
struct Figure {
  std::string name;    // of its files
  std::string csv;     // the content of name.csv
  std::string script;  // the content of name.gp; run in the folder, it draws svg, pdf and png
  std::string description = {};  // the content of name.json, which redraw.py draws; or empty
};
using Figures = std::vector<Figure>;

/// All figures that these results have something to show in; none of an empty result.
Figures make_figures(const Runs& records, const FigureExtras& extras = {});

/// Has every figure say, across its data, that the run behind it was interrupted.
void mark_interrupted(Figures& figures);

/// Writes data, script and description of every figure into `folder`, which is made if it is not
/// there, and lets gnuplot draw it as .svg, .pdf and .png. Equal figures give equal bytes.
/// SimulationError says that there is no gnuplot, how to get it, and what was written nevertheless;
/// or what gnuplot had to say. A script in `older` (empty: `folder`) that was changed by hand takes
/// the place of the one of that name; which these are is returned.
std::vector<std::string> draw_figures(const Figures& figures, const std::string& folder,
                                      const std::string& older = "");

/// Writes redraw.py, which draws all figures of its folder with Matplotlib from their descriptions.
void write_redraw(const std::string& folder);

}  // namespace lacuna

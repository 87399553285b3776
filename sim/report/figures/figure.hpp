// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A row of cycle_stack.csv: unit-cycles that an operation spent in one way.
struct StackRow {
  std::uint64_t run = 0;
  std::string op_id;
  std::uint64_t units = 0;
  std::uint64_t cycles = 0;
  Layer layer = Layer::compute;
  std::string kind;
  std::uint64_t unit_cycles = 0;
};

/// A part of the nominal energy of an operation.
struct EnergyPartRow {
  std::uint64_t run = 0;
  std::string component;
  double joules = 0;
};

/// What the simulated units of a run could at most have done.
struct PeakRates {
  double tflops = 0;
  double sram_gbps = 0;
  double fabric_gbps = 0;
  double io_gbps = 0;
};

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

/// What figures are drawn from: the content of result files, in their order.
struct FigureData {
  std::vector<SummaryRow> rows;
  std::vector<StackRow> stacks;
  std::vector<EnergyPartRow> energy;
  std::map<std::uint64_t, PeakRates> peaks;    // by run; may be empty
  std::map<std::string, std::string> extents;  // by machine, such as "1472 tiles"; may be empty
  std::vector<std::string> varying;            // names of SummaryRow::varying
  std::vector<MeasuredPoint> measured = {};    // of other hardware, over the throughput
  std::vector<ReferenceMemory> references = {};
  std::map<std::uint64_t, std::string> layouts = {};  // by run of one operation, if chosen
};

FigureData figure_data(const std::vector<RunRecord>& records);

/// A figure as text: the data, and the gnuplot script that draws them. Both are functions of the
/// results alone, and neither names the engine.
struct Figure {
  std::string name;    // of its files
  std::string csv;     // the content of name.csv
  std::string script;  // the content of name.gp; run in the folder, it draws svg, pdf and png
  std::string description = {};  // the content of name.json, which redraw.py draws; or empty
};

/// All figures that these results have something to show in; none of an empty result.
std::vector<Figure> make_figures(const FigureData& data);

/// Has every figure say, across its data, that the run behind it was interrupted.
void mark_interrupted(std::vector<Figure>& figures);

/// Writes data, script and description of every figure into `folder`, which is made if it is not
/// there, and lets gnuplot draw it as .svg, .pdf and .png. Equal figures give equal bytes.
/// SimulationError says that there is no gnuplot, how to get it, and what was written nevertheless;
/// or what gnuplot had to say. A script in `older` (empty: `folder`) that was changed by hand takes
/// the place of the one of that name; which these are is returned.
std::vector<std::string> draw_figures(const std::vector<Figure>& figures, const std::string& folder,
                                      const std::string& older = "");

/// Writes redraw.py, which draws all figures of its folder with Matplotlib from their descriptions.
void write_redraw(const std::string& folder);

/// The same from results, as a result folder has them.
inline void draw_figures(const FigureData& data, const std::string& folder) {
  draw_figures(make_figures(data), folder);
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "models/system/ledger.hpp"
#include "sim/base/cycle.hpp"
#include "sim/driver/result/quantity_screen.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/unit_series.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna {

/// A word of a legend and its colour.
using Coloured = std::pair<std::string, std::string>;

/// A stretch of time of one of several tracks, in ns.
struct SystemBar {
  std::string name;
  std::size_t track = 0;
  std::size_t kind = 0;  // for its colour
  Cycle from = 0;
  Cycle to = 0;
};

/// A number over time: its value from each moment on, in ns.
struct SystemCurve {
  std::string name;
  std::string unit;
  std::vector<std::pair<Cycle, double>> values;
};

/// What memories hold at most in a stretch of time, in MB.
struct SystemLevels {
  Cycle from = 0;
  Cycle to = 0;
  std::vector<double> mb;
};

/// What was done when.
struct SystemSpans {
  std::string of;      // "first replica"
  std::string shown;   // of the figure, in words
  double left = 0.62;  // inches for the names of its tracks
  std::vector<std::string> tracks = {};
  std::vector<Coloured> kinds = {};
  std::vector<SystemBar> bars = {};   // of timeline.json
  std::vector<SystemBar> drawn = {};  // of the figure
  std::vector<std::string> memories = {};
  std::vector<SystemLevels> levels = {};  // below them, of each memory
  std::vector<SystemCurve> curves = {};
};

/// A table with words above it.
struct TitledTable {
  std::string title;  // empty: in files alone
  NamedTable table;
};

/// What a step came to on a system, whatever joins its chips: all that is printed, written and
/// drawn of it.
struct SystemRecord {
  std::string title;    // of figures
  std::string heading;  // of the text
  std::string trust;    // below the quantities
  std::vector<NamedQuantity> metrics;
  system::RunResult run;
  system::Uses uses;            // of the time of a chip
  std::size_t drawn_chips = 0;  // the first ones, in figures
  std::vector<system::MemoryAccount> memory;
  EnergyAccount energy;
  std::vector<StandingPower> standing;
  std::vector<TitledTable> tables;   // of this kind of systems alone
  SystemSpans spans;                 // of a step that was to be drawn
  std::optional<UnitSeries> series;  // of one that was to be viewed
  ScalingRow scaling;
  std::string idle;  // a line for each setting or word that changed nothing

  /// Adds how many joules it takes of those of its dense run.
  void compare_energy(const SystemRecord& dense);
};

/// Uses by name, and the colours that they have in all pictures.
std::vector<Coloured> coloured(system::Uses uses);

/// What of a step is wanted beside its numbers.
struct SystemWishes {
  bool drawn = false;                      // files and figures
  bool viewed = false;                     // a page
  std::string name = {};                   // of what is run, in words
  std::vector<std::string> settings = {};  // "path=value", those that change nothing to be named
};

/// What the quantities of a step are worked out of. Those that are 0 have none.
struct StepCounts {
  double seconds = 0;
  double chips = 0;
  double machines = 0;
  double flop = 0;       // useful, of all chips, without what is done again
  double sequences = 0;  // packs counted apart
  double tokens = 0;
  double steps = 0;  // of a whole training
};

/// Those of a model that is trained.
StepCounts counts_of(const system::TrainingParams& training, double seconds, double flop);

/// step_time, chips, rates, energy and its parts, and `own` quantities of a kind of systems.
std::vector<NamedQuantity> step_metrics(const StepCounts& counts, const EnergyAccount& energy,
                                        const std::vector<NamedQuantity>& own);

std::string text_of(const SystemRecord& record);

/// Its tables for programs: its own, time_stack, metrics and memory.
std::vector<NamedTable> tables_of(const SystemRecord& record);

/// Files of a result folder, by name: the tables, timeline.json.
Pairs files_of(const SystemRecord& record);

/// Spans of time and memory below them, where the time of chips goes, memory at its fullest.
Figures figures_of(const SystemRecord& record);

/// What a page has of it, in the form of pack(); of a step that was to be viewed.
std::string page_of(const SystemRecord& record, const std::string& title);

/// 10^6 bytes.
inline double in_mb(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

/// A table as the lines of a file.
std::string csv_of(const NamedTable& table);

}  // namespace lacuna

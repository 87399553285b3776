// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_style.hpp"

namespace lacuna {

/// What the simulated units of a run could at most have done.
struct PeakRates {
  double tflops = 0;
  double sram_gbps = 0;
  double fabric_gbps = 0;
  double io_gbps = 0;
};

/// A run as a figure shows it: one point, or one bar.
struct FigureRun {
  const RunRecord* record = nullptr;
  std::string machine;
  std::string extent;              // what was simulated of its machine in all runs
  std::string pattern;             // label, such as "block 16"
  std::string variant;             // what else tells runs apart, such as "4096x4096x1024 static"
  double density = 1;              // of the weights
  std::string density_text = "1";  // what was probably asked for
  std::string short_bar;           // bar() without what all runs have in common; may be empty
  std::uint64_t units = 0;
  bool repeated = false;  // an earlier run is the same but for its seed
  SummaryRow total;
  std::vector<SummaryRow> ops;     // without the total
  std::optional<PeakRates> peaks;  // of the first operation that has any

  /// "bow block 16" and what else tells it apart.
  std::string series() const;

  /// series(), and the density where the pattern does not say it.
  std::string bar() const;

  bool ok() const { return total.status == Status::ok; }
};
using FigureRuns = std::vector<FigureRun>;

/// "tiles" of "ipu.tiles".
std::string last_word(const std::string& path);

/// "out of memory", "not supported", "failed" or "interrupted": why a run has no values.
std::string status_words(Status status);

/// Runs without values and why, as lines of a title where no place for a marker is known.
std::vector<std::string> missing_lines(const FigureRuns& runs);

/// The runs of a result in their order, with the labels that tell them apart. They refer to
/// `records`.
FigureRuns figure_runs(const Runs& records);

/// Useful TFLOP/s, and speed-up over dense, with the interval of published values if it is known.
std::optional<EnergyRange> throughput_range(const SummaryRow& row);
std::optional<EnergyRange> speedup_range(const SummaryRow& row);

/// "block 16", "unstructured", "dense".
std::string pattern_label(const SummaryRow& row);

/// The style of every run, by the machines and patterns of all of them.
std::vector<SeriesStyle> run_styles(const FigureRuns& runs);

/// The names of what varies between the runs, SummaryRow::varying; none if nothing does.
const std::vector<std::string>& varying_of(const FigureRuns& runs);

/// What is shown, above the data: the workload, and what was simulated of each machine.
std::vector<std::string> figure_title(const FigureRuns& runs);

}  // namespace lacuna

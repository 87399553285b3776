// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/sweep/yaml_sweep.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// A point of an experiment with a language model.
struct ModelPoint {
  Options options;  // those of a run of it
  std::string machine;
  std::vector<std::string> varying;  // of each axis, what this point has; empty: nothing
};

/// What became of it: a report, or why there is none.
struct ModelOutcome {
  std::optional<ModelReport> report;
  std::string reason;
};

/// An experiment with a language model, read and checked before its first point runs.
struct ModelSweep {
  std::string name;  // of its file, without folder and ending
  std::vector<std::string> axes;
  std::vector<ModelPoint> points;
};

/// Makes all points of `file`. A word or parameter goes to the machines that have it, NAME:WORD to
/// machine NAME alone; `none` is a word that is not said. RequestError of words that no point
/// takes.
ModelSweep plan_model_sweep(const SweepFile& file, const Options& options,
                            const MachineTable& kinds);

/// The share of weights or activations that a word such as "all=block16:0.5", "2:4" or "0.25"
/// leaves; 1 of "none". Nothing if it says none, or several.
std::optional<double> share_said(const std::string& word);

/// Rate and energy of tokens over each axis of numbers, a line for each choice of the others.
std::vector<Figure> model_sweep_figures(const ModelSweep& sweep,
                                        const std::vector<ModelOutcome>& outcomes);

/// RequestError if a file without the word `model`, or the options beside it, say what is of
/// models.
void refuse_model_words(const SweepFile& file, const Options& options);

/// `lacuna sweep` and `lacuna search` of files with the word `model`.
int run_model_sweep(const SweepFile& file, const Options& options, const MachineTable& kinds,
                    const Streams& streams);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/command/study.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/result/result_model.hpp"
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

/// An experiment with a language model, read and checked before its first point runs.
struct ModelSweep {
  std::string name;  // of its file, without folder and ending
  std::vector<std::string> axes;
  std::vector<ModelPoint> points;

  /// Where progress is shown: the machine, and what varies.
  std::string name_of(std::size_t point) const;
};

/// Makes all points of `file`. A word or parameter goes to the machines that have it, NAME:WORD to
/// machine NAME alone; `none` is a word that is not said. RequestError of words that no point
/// takes.
ModelSweep plan_model_sweep(const SweepFile& file, const Options& options,
                            const MachineTable& kinds);

/// Runs of language models, each in a process of its own.
class ModelRuns : public Study {
 public:
  /// All that is handed over has to outlive it. The result is called `name`; those of `inputs` that
  /// are files were read. If it `refuses`, an error of a point is thrown; else it is the outcome of
  /// that point.
  ModelRuns(const ModelSweep& sweep, const std::string& name,
            const std::vector<std::string>& inputs, const Options& options,
            const MachineTable& kinds, const Streams& streams, bool refuses);

  /// Others beside these, whose result has them: nothing is kept or written.
  ModelRuns(const ModelSweep& sweep, const Options& options, const MachineTable& kinds,
            const Streams& streams);

  /// See there.
  bool begin();

  /// Simulates points of the share that are not known: those of `order`, or all. False if Ctrl-C
  /// ended it, which is said.
  bool run(const std::vector<std::size_t>* order = nullptr);

  /// See there.
  bool ends_as_share() const;

  /// Writes the result.
  void write(const TableResult& result);

  const std::vector<ModelOutcome>& outcomes() const { return outcomes_; }
  std::vector<ModelReport> reports() const;

  /// What a result folder has of them all.
  TableResult result() const;

 private:
  ModelRuns(StudyPlan plan, const ModelSweep& sweep, const Options& options,
            const MachineTable& kinds, const Streams& streams, bool refuses);
  Jobs jobs(std::vector<std::size_t> order);

  const ModelSweep& sweep_;
  const MachineTable& kinds_;
  bool refuses_;
  Pricing pricing_;
  PartCache cache_;
  std::vector<ModelOutcome> outcomes_;
};

/// The numbers of all points.
std::vector<std::size_t> all_of(const ModelSweep& sweep);

/// The share of weights or activations that a word such as "all=block16:0.5", "2:4" or "0.25"
/// leaves; 1 of "none". Nothing if it says none, or several.
std::optional<double> share_said(const std::string& word);

/// Rate and energy of tokens over each axis of numbers, a line for each choice of the others.
Figures model_sweep_figures(const ModelSweep& sweep, const std::vector<ModelOutcome>& outcomes);

/// RequestError if a file without the word `model`, or the options beside it, say what is of
/// models.
void refuse_model_words(const SweepFile& file, const Options& options);

/// `lacuna sweep` and `lacuna search` of files with the word `model`.
int run_model_sweep(const SweepFile& file, const Options& options, const MachineTable& kinds,
                    const Streams& streams);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/command/output.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/journal.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"

namespace lacuna {

/// What a study is of.
struct StudyPlan {
  std::string name;
  const std::vector<WorkloadTrace>& workloads;
  const std::vector<Point>& points;
  Journal::Facts facts;     // that say what it is, beside its machines, files and prices
  std::string file = {};    // of the experiment, if it is one
  bool keep_going = false;  // a failed point is a record, and others go on
};

/// Points that a verb simulates, in processes or on the ranks of a cluster: all of them, a share,
/// or as the verb asks. Each is kept beside the result folder as it finishes, for --resume.
class Study {
 public:
  /// RequestError of options that are wrong, before anything is simulated. `options` and `streams`
  /// must live as long.
  Study(StudyPlan plan, const RunSettings& settings, const Options& options,
        const Streams& streams);

  /// Takes up what was kept. False if nothing is left to do here: a resumed request is finished, or
  /// this rank has served.
  bool begin();

  /// No children (PointRuns::here).
  void stay_here() { how_.here = true; }

  /// Simulates points that are not known, or all. False if Ctrl-C ended it, which is said.
  bool run(const std::vector<std::size_t>* order = nullptr);

  /// Whether a point is of the share that is asked for, as all are without --shard.
  bool shares(std::size_t point) const { return shard_.has(point); }

  /// Simulates the share. False if Ctrl-C ended it.
  bool run_share();

  /// See there.
  bool ends_as_share() const;

  /// What is kept is part of the result that is now written.
  void end() {
    if (journal_) journal_->remove();
  }

  Output* output() { return output_ ? &*output_ : nullptr; }
  Records& records() { return records_; }
  MaskStore& masks() { return masks_; }
  const Pricing& pricing() const { return pricing_; }

 private:
  const StudyPlan plan_;
  const Options& options_;
  const Streams& streams_;
  const RunSettings settings_;
  const Pricing pricing_;
  MaskStore masks_;
  const MpiRanks ranks_;
  Progress progress_;
  const Shard shard_;
  PointRuns how_;
  std::optional<Output> output_;
  std::unique_ptr<Journal> journal_;
  Records records_;
};

/// The records of all points, begun in this order, where a result folder is another than Study has.
/// What is finished goes into the journal, if there is one. SimulationError if Ctrl-C ended it.
Records records_of_all(const std::vector<Point>& points, const RunSettings& settings,
                       const Pricing& pricing, Journal* journal, const Options& options,
                       const Streams& streams, const std::vector<std::size_t>* order = nullptr);

}  // namespace lacuna

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
  Journal::Facts facts;                       // that say what it is, beside its files and prices
  std::vector<WorkloadTrace> workloads = {};  // which its result names
  std::vector<std::string> inputs = {};       // files that it names beside these
  bool keep_going = false;                    // a failed point is a record, and others go on
  bool writes = true;                         // its result; else it is its verb's own
};

/// Points that a verb simulates, in processes or on the ranks of a cluster: all of them, a share,
/// or as the verb asks. Each is kept beside the result folder as it finishes, for --resume.
class Study {
 public:
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  /// Whether a point is of the share that is asked for, as all are without --shard.
  bool shares(std::size_t point) const { return shard_.has(point); }

  /// What is kept is part of the result that is now written.
  void end() {
    if (journal_) journal_->remove();
  }

  Output* output() { return output_ ? &*output_ : nullptr; }

 protected:
  /// RequestError of options that are wrong, before anything is simulated. `options` and `streams`
  /// must live as long.
  Study(StudyPlan plan, std::size_t points, const Options& options, const Streams& streams);
  ~Study() = default;

  /// Takes up what was kept of `machines`. False if nothing is left to do: a resumed request is
  /// finished. A single point counts its `operations`.
  bool begin(const std::vector<const Machine*>& machines, std::size_t operations = 0);

  /// Those of all points, or of some, that are of the share.
  std::vector<std::size_t> share_of(const std::vector<std::size_t>* order) const;

  /// See there; `kept` of all points are.
  bool ends_as_share(std::size_t kept) const;

  const StudyPlan plan_;
  const std::size_t points_;
  const Options& options_;
  const Streams& streams_;
  const MpiRanks ranks_;
  Progress progress_;
  std::unique_ptr<Journal> journal_;

 private:
  const Shard shard_;
  std::optional<Output> output_;
};

/// The same of points with operations, each of which comes to a record.
class PointStudy : public Study {
 public:
  /// See there; `points` must live as long, too.
  PointStudy(StudyPlan plan, const std::vector<Point>& points, const RunSettings& settings,
             const Options& options, const Streams& streams);

  /// The same. False also on a rank that has served.
  bool begin();

  /// No children (PointRuns::here).
  void stay_here() { how_.here = true; }

  /// Simulates points of the share that are not known: those of `order`, or all. False if Ctrl-C
  /// ended it, which is said.
  bool run(const std::vector<std::size_t>* order = nullptr);

  /// See there.
  bool ends_as_share() const { return Study::ends_as_share(count_finished(records_)); }

  Records& records() { return records_; }
  MaskStore& masks() { return masks_; }
  const Pricing& pricing() const { return pricing_; }

 private:
  const std::vector<Point>& all_;
  const RunSettings settings_;
  const Pricing pricing_;
  MaskStore masks_;
  PointRuns how_;
  Records records_;
};

}  // namespace lacuna

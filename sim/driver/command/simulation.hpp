// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/system/chip_system.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What the verbs do before they print: for them, and for the library.

/// The rows of `workload` as each machine runs them: machines in the order given, for each all
/// patterns of `options`, for each of these all seeds. RequestError if what the options say of
/// patterns, kernels or seeds changes nothing.
std::vector<Point> make_points(const std::vector<const Machine*>& machines,
                               const WorkloadTrace& workload, const Options& options,
                               const RunSettings& settings);

/// Machines on a workload: what was asked, and what came of it.
struct ComparedRuns {
  WorkloadTrace workload;
  RunSettings settings;
  Runs records;
  std::optional<Scaling> systems;      // compared: of chips with a store of weights
  std::optional<SystemRecord> system;  // run: of such a one
  int status = 0;                      // an ExitStatus
  bool interrupted = false;
};

/// Runs all patterns of `options` on all `machines`, each point in a process of its own. It writes
/// the result folder if one is asked for. `settings` are run_settings(), or those with more wanted.
/// What is small runs in this process if it `may_stay_here`. Nothing if a resumed request had
/// nothing left to do.
std::optional<ComparedRuns> compare_machines(const Options& options,
                                             const std::vector<const Machine*>& machines,
                                             const WorkloadTrace& workload,
                                             const RunSettings& settings, const Streams& streams,
                                             bool may_stay_here);

/// What is said of an interrupted request, whose finished points are `kept` or not.
std::string interrupted_text(const Records& records, bool kept);

/// Says what a run with values found, and whether it found fault: kDone or kCheckFailed.
int check_values(const Runs& records, const Options& options, const Streams& streams);

/// An experiment file, run; nothing if a resumed one had nothing left to do. `print` says whether
/// its tables go to streams.out.
struct SweepResult {
  Runs records;
  int status = 0;
  bool interrupted = false;
};
std::optional<SweepResult> run_sweep(const Options& options, const MachineTable& kinds,
                                     const Streams& streams, bool print);

/// A search, done: the runs of the points that were simulated, search.csv and what is said of the
/// best; nothing if a resumed one had nothing left to do.
struct SearchResult {
  Runs records;
  std::string points;
  std::string text;
  int status = 0;
  bool interrupted = false;
};
std::optional<SearchResult> run_search(const Options& options, const MachineTable& kinds,
                                       const Streams& streams);

}  // namespace lacuna

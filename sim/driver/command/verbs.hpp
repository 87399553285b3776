// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/run/pricing.hpp"

namespace lacuna {

/// Exit statuses of the program.
enum ExitStatus : int {
  kDone = 0,
  kNotCompleted = 1,
  kWrongRequest = 2,
  kCheckFailed = 3,
  kDefect = 4
};

/// Where a verb writes: the result, and progress and remarks.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
  std::size_t columns = 0;  // letters of a line of `out`; 0: as many as there are
  bool out_is_terminal = false;
};

/// Where remarks on results go: to `err`, or with --quiet nowhere. What is odd about a request is
/// said even so.
std::ostream& notes(const Options& options, const Streams& streams);

/// The verbs. Each returns an ExitStatus and throws what it cannot go on with.
int simulate_verb(const Options& options, const MachineTable& kinds, const Streams& streams);
int compare_results(const Options& options, const Streams& streams);  // finished ones
int sweep_verb(const Options& options, const MachineTable& kinds, const Streams& streams);
int search_verb(const Options& options, const MachineTable& kinds, const Streams& streams);
int trace_verb(const Options& options, const Streams& streams);
int schedule_verb(const Options& options, const MachineTable& kinds, const Streams& streams);
int describe_verb(const Options& given, const MachineTable& kinds, const Streams& streams);
int plot_verb(const Options& options, const Streams& streams);
int validate_verb(const Options& options, const MachineTable& kinds, const Streams& streams);

/// The options that run, compare and validate have in common, read and checked.
RunSettings run_settings(const Options& options);

/// What is said of an interrupted request that keeps simulated parts in its cache.
std::string interrupted_with_cache(const Options& options);

/// --seeds: how many patterns each point is repeated with; 1 without it.
std::uint64_t seed_count(const Options& options);

/// True if seeds make a difference: something in the workload is sparse.
bool depends_on_seed(const WorkloadTrace& workload);

/// The prices of --energy-table over those that ship, which it says to use for what is missing.
Pricing make_pricing(const Options& options, const Streams& streams);

/// Says which settings of the points' machines make simulations take much longer, before they do.
void say_what_is_slow(const std::vector<Point>& points, const Options& options,
                      const Streams& streams);

/// --jobs, by default the number of processors.
std::size_t job_count(const Options& options);

}  // namespace lacuna

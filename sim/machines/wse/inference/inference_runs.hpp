// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/wse/task_wafer.hpp"
#include "sim/base/statistics.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// What a run of a program of tasks came to: of all its cores together, and when its first one took
/// its stamps.
struct RunTotals {
  Cycle cycles = 0;
  std::uint64_t cores = 0;
  std::vector<Cycle> stamps;
  std::vector<StatEntry> statistics;
  std::vector<StackPart> stack;  // sums to cores * cycles
};

/// What a pass of a model counted: runs, as often as they are done.
struct PassTotals {
  std::vector<StatEntry> statistics;
  std::vector<StackPart> stack;

  void add(const RunTotals& run, double times = 1);
  void add(const PassTotals& totals, double times);

 private:
  void add(const std::vector<StatEntry>& more, const std::vector<StackPart>& parts, double times);
};

/// Runs programs of inference, each once. What they came to is kept under their name and all
/// parameters of the wafer, in `cache` too if there is one: a name says all that a program was made
/// of beside these.
class InferenceRuns {
 public:
  InferenceRuns(const WseParams& params, Engine engine, PartCache* cache);

  /// The run of what `make` makes, unless it is known.
  const RunTotals& of(const std::string& name, const std::function<wse::TaskProgram()>& make);

 private:
  const WseParams& params_;
  wse::RunOptions options_;
  PartCache* cache_;
  std::string parameters_;
  std::map<std::string, RunTotals> known_;
};

}  // namespace lacuna

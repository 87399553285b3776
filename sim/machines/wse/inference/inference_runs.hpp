// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/wse/task_outcome.hpp"
#include "sim/base/statistics.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/machines/wse/view/layer_path.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What a run of a program of tasks came to: of all its cores together, and when its first one took
/// its stamps.
struct RunTotals {
  Cycle cycles = 0;
  std::uint64_t cores = 0;
  std::vector<Cycle> stamps;
  std::vector<StatEntry> statistics;
  std::vector<StackPart> stack;  // sums to cores * cycles
  std::uint64_t sram_read_bytes = 0;
  std::uint64_t sram_write_bytes = 0;
  std::uint64_t fabric_bytes = 0;
  Cycle busiest = 0;     // issue slots of the core that used most
  Cycle multiplies = 0;  // and the most without those of words of the fabric
};

/// Runs that are known, by all that they depend on.
using KnownRuns = std::map<std::string, RunTotals>;

/// What a pass of a model counted: runs, as often as they are done.
struct PassTotals {
  std::vector<StatEntry> statistics;
  std::vector<StackPart> stack;

  void add(const RunTotals& run, double times = 1);
  void add(const PassTotals& totals, double times);

 private:
  void add(const std::vector<StatEntry>& more, const std::vector<StackPart>& parts, double times);
};

/// What a page says of a program; no title: it is not shown.
struct ProgramTitle {
  std::string text;
  std::vector<std::string> phases;  // of its first core, between its stamps
};

/// What each core of a program did: its title, what it came to, and the series.
using ShowProgram = std::function<void(const std::string&, const RunTotals&, UnitSeries)>;

/// Runs programs of inference, each once. What they came to is kept under their name and all
/// parameters of the wafer, in `cache` too if there is one: a name says all that a program was made
/// of beside these.
class InferenceRuns {
 public:
  InferenceRuns(const WseParams& params, Engine engine, PartCache* cache);

  /// The same with more options, and with what is known for others to share.
  InferenceRuns(const WseParams& params, const wse::RunOptions& options,
                std::shared_ptr<KnownRuns> known);

  /// The run of what `make` makes, unless it is known.
  const RunTotals& of(const std::string& name, const std::function<wse::TaskProgram()>& make,
                      const ProgramTitle& title = {});

  /// Has each program with a title run again, core by core in steps, and shown once. A path is of
  /// the programs that have its window.
  void watch(const TaskView& view, ShowProgram show);

 private:
  const RunTotals& found(const std::string& name, const std::function<wse::TaskProgram()>& make);
  void show(wse::TaskProgram made, const RunTotals& totals, const ProgramTitle& title);

  const WseParams& params_;
  wse::RunOptions options_;
  PartCache* cache_ = nullptr;
  std::string parameters_;
  std::shared_ptr<KnownRuns> known_;
  TaskView view_;
  ShowProgram show_;
  std::set<std::string> shown_;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/driver/system/scaling.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

struct Point;

/// What a job came to on a system: its report, whatever joins the chips.
class SystemOutcome {
 public:
  SystemOutcome() = default;
  SystemOutcome(const SystemOutcome&) = delete;
  SystemOutcome& operator=(const SystemOutcome&) = delete;
  virtual ~SystemOutcome() = default;

  virtual std::vector<SystemMetric> metrics() const = 0;

  /// Its tables for programs: metrics, time_stack and memory of all systems, and its own.
  virtual std::vector<NamedTable> tables() const = 0;

  /// All tables as text; `name` is that of what was run.
  virtual std::string text(const std::string& name) const = 0;

  /// What a result folder has of it, by name; of a job that was to be drawn.
  virtual std::vector<std::pair<std::string, std::string>> files() const = 0;
  virtual std::vector<Figure> figures() const = 0;

  /// What a page has of it, in the form of pack(); of a job that was to be viewed.
  virtual std::string page(const std::string& title) const = 0;

  /// Its row among systems that do the same.
  virtual ScalingRow scaling_row() const = 0;

  /// A line for each of `settings`, and of words of the description, that changed nothing.
  virtual std::string idle(const std::vector<std::string>& settings) const = 0;
};

/// What of a run is wanted beside its numbers.
struct SystemWishes {
  bool drawn = false;   // files and figures
  bool viewed = false;  // a page
};

/// A system of chips that trains a model: the one door to it, whatever joins its chips. What
/// differs by that is behind it.
class ChipSystem {
 public:
  ChipSystem() = default;
  ChipSystem(const ChipSystem&) = delete;
  ChipSystem& operator=(const ChipSystem&) = delete;
  virtual ~ChipSystem() = default;

  virtual const std::string& name() const = 0;
  virtual unsigned chips() const = 0;
  virtual std::vector<ParameterValue> parameters() const = 0;

  /// The same batch on all chips of this system. RequestError if it does not come out even.
  virtual system::TrainingParams spread(const system::TrainingParams& training) const = 0;

  /// RequestError names the first word of a description that has no meaning on such a system;
  /// spread() leaves such words out.
  virtual void refuse_layout(const system::TrainingParams& training) const = 0;

  /// Runs the job, which this system outlives as long as what came of it. OutOfMemoryError, before
  /// anything is simulated, if something has no room.
  virtual std::unique_ptr<SystemOutcome> run(const SystemJob& job,
                                             const SystemWishes& wishes) const = 0;

  /// Layouts of the model on its chips, by their memory. RequestError if chips do not share one.
  virtual std::string fit(const SystemJob& job, bool markdown) const = 0;
};

/// The system of a preset or file with `settings`, of which those of the training are not its own.
std::unique_ptr<ChipSystem> make_chip_system(const MachineTable& kinds, const std::string& name,
                                             const std::vector<std::string>& settings);

/// What a system makes of the rows of `point` that one of its chips ran, as `record` has them.
/// Null if its machine is no system, or a row was not simulated. The point outlives it.
std::unique_ptr<SystemOutcome> outcome_of_rows(const Point& point, const RunRecord& record,
                                               const system::SystemExecution& execution,
                                               const Pricing& pricing);

/// Whether the chips of `name` share a store of weights over a tree.
bool is_tree_system(const std::string& name);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/driver/system/record.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

struct Point;

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

  /// Runs the job. OutOfMemoryError, before anything is simulated, if something has no room.
  virtual SystemRecord run(const SystemJob& job, const SystemWishes& wishes) const = 0;

  /// Layouts of the model on its chips, by their memory. RequestError if chips do not share one.
  virtual std::string fit(const SystemJob& job, bool markdown) const = 0;
};

/// The system of a preset or file with `settings`, of which those of the training are not its own.
std::unique_ptr<ChipSystem> make_chip_system(const MachineTable& kinds, const std::string& name,
                                             const std::vector<std::string>& settings);

/// What a system makes of the rows of `point` that one of its chips ran, as `record` has them.
/// Nothing if its machine is no system, or a row was not simulated.
std::optional<SystemRecord> record_of_rows(const Point& point, const RunRecord& record,
                                           const SystemWishes& wishes, Engine engine,
                                           const Pricing& pricing);

/// Whether the chips of `name` share a store of weights over a tree.
bool is_tree_system(const std::string& name);

}  // namespace lacuna

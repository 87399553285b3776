// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/driver/result/result_page.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/driver/system/record.hpp"

namespace lacuna {

/// A system of chips that trains a model: the one door to it, and the one place that knows whether
/// its chips are joined by links or share a store of weights over a tree.
class ChipSystem {
 public:
  /// The system of a preset or file with `settings`, of which those of the training are not its
  /// own.
  ChipSystem(const MachineTable& kinds, const std::string& name,
             const std::vector<std::string>& settings);

  const std::string& name() const { return tree_ ? tree_->name() : linked_.name; }
  unsigned chips() const;
  std::vector<ParameterValue> parameters() const;

  /// The same batch on all chips of this system. RequestError if it does not come out even.
  system::TrainingParams spread(const system::TrainingParams& training) const;

  /// RequestError names the first word of a description that has no meaning on such a system;
  /// spread() leaves such words out.
  void refuse_layout(const system::TrainingParams& training) const;

  /// Runs the job. OutOfMemoryError, before anything is simulated, if something has no room.
  SystemRecord run(SystemJob job, const SystemWishes& wishes) const;

  /// Layouts of the model on its chips, by their memory. RequestError if chips do not share one.
  TextPage fit(const SystemJob& job) const;

 private:
  SystemMachine linked_;           // with the gateways and memories of machines
  std::unique_ptr<Machine> tree_;  // null: chips are joined by links
};

/// Whether the chips of `name` share a store of weights over a tree.
bool is_tree_system(const std::string& name);

}  // namespace lacuna

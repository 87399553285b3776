// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/validate/runs.hpp"

namespace lacuna {

/// How the simulations behind validation points are carried out.
struct ValidationRunSettings {
  std::uint64_t seed = 1;             // of the random masks
  std::vector<std::string> settings;  // "path=value", of every machine that has the parameter
  Execution execution;
  LayoutRequest layout;
  unsigned jobs = 1;  // processes
};

/// The simulations behind validation points as points of an experiment, each on the machine of its
/// system. Those with a layout chosen for them run a second time, as their machines plan them.
class ValidationRuns {
 public:
  /// Keeps a reference to `runs`. RequestError of a wrong setting, before anything runs.
  ValidationRuns(const MachineTable& table, const std::vector<ValidationRun>& runs,
                 const ValidationRunSettings& settings);

  const std::vector<Point>& points() const { return points_; }

  /// In which they are best begun: by mask, the largest first, so that each mask is made once and
  /// no large run is left for the end.
  std::vector<std::size_t> order() const;

  /// What came of each run, in their order, from the records of all points. One that does not fit
  /// memory, is not supported or could not be completed is a result without cycles.
  std::vector<ValidationRunResult> results(const Records& records) const;

 private:
  void add(const MachineTable& table, const ValidationRunSettings& settings,
           const LayoutRequest& layout);

  const std::vector<ValidationRun>& runs_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<Point> points_;  // one of each run; then again as planned, or nothing
};

}  // namespace lacuna

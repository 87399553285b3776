// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The axes of an experiment, and the place of each run on them, by RunRecord::run; a text is empty
/// where an axis does not apply.
struct SweepAxes {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> places;

  /// A line of a table of runs: the head, or the cells of a run, then `more`. The machine is in it
  /// whether it is an axis or not.
  std::string head(const std::vector<std::string>& more) const;
  std::string line(std::uint64_t run, const std::string& machine,
                   const std::vector<std::string>& more) const;
};

/// The Pareto front of each machine: no other run of it beats these in both useful TFLOP/s (more is
/// better) and energy per useful FLOP (less is better). By machine, then by rising throughput.
std::vector<const RunRecord*> pareto_front(const Runs& records);

/// How much one axis matters. Runs that differ in it alone are compared with each other: the
/// longest time over the shortest, and likewise joules.
struct Sensitivity {
  std::string axis;
  std::size_t groups = 0;   // of runs that differ in it alone
  double time_typical = 1;  // geometric mean over the groups
  double time_most = 1;     // largest of them
  double energy_typical = 1;
  double energy_most = 1;
  std::string fastest;  // the value that was the fastest most often
};

/// Of all axes with something to compare, the one that moves time most first. Chance (an axis
/// `seed`) is one of them: what moves less than it is noise.
std::vector<Sensitivity> sensitivities(const Runs& records, const SweepAxes& axes);

/// As CSV; without a row if there is nothing to say.
std::string pareto_csv(const Runs& records, const SweepAxes& axes);
std::string sensitivity_csv(const Runs& records, const SweepAxes& axes);

}  // namespace lacuna

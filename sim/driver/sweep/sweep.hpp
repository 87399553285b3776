// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/sweep/yaml_sweep.hpp"

namespace lacuna {

/// An experiment, read and checked as a whole before its first point runs.
struct Sweep {
  std::string name;                                 // of its file, without folder and ending
  std::vector<std::unique_ptr<Machine>> machines;   // one for each set of parameters
  std::vector<WorkloadTrace> workloads;             // as they were read
  std::vector<Point> points;                        // in the order of the file
  std::size_t asked = 0;                            // points after these are dense partners only
  std::vector<std::string> axes;                    // words and parameters of several values
  std::vector<std::vector<std::string>> axis_text;  // of each point asked for; empty: not for it
  bool with_dense = false;

  /// What the experiment says, as names and values in the order of the file: two experiments of
  /// equal facts have equal results.
  Pairs facts;
};

/// Makes all points of `file`. `options` may fix more: --set, --engine, --fold, --seed, --values,
/// --with-dense. Every problem of any point is a RequestError that names where it comes from.
///
/// A parameter goes to the machines that have it. `dense` weights take no density and no block,
/// `unstructured` ones in blocks of more than one are `block`. Points that are equal after that
/// are run once.
Sweep plan_sweep(const SweepFile& file, const Options& options, const MachineTable& kinds);

}  // namespace lacuna

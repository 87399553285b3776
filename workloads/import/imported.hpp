// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// A trace made of foreign files.
struct Imported {
  WorkloadTrace trace;
  std::vector<std::string> notes;     // what a reader of the trace should know
  std::vector<std::string> warnings;  // what looks wrong, and was read all the same
};

}  // namespace lacuna

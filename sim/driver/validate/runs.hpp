// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/report/result.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// One simulation that some points need.
struct ValidationRun {
  std::string machine;  // a preset
  std::string clock;    // GHz as the point writes it; empty: the preset's
  LayerOp op;           // with its pattern; `id` names what is run

  std::vector<std::string> settings = {};  // "path=value", of the machine
  std::string statistic = {};              // that is the number of cycles; empty: kernel_cycles()
};

/// What came of it. `cycles` are those of the metric the points use: the union of compute and
/// exchange intervals, waiting for a barrier left out.
struct ValidationRunResult {
  Status status = Status::ok;
  std::string reason;
  Cycle cycles = 0;
  double clock_ghz = 0;
  Cycle all_cycles = 0;  // waiting for barriers included

  // of a layout that was chosen for it (--layout): the same as the machine plans it, 0 if it cannot
  Cycle planned = 0;
  Cycle all_planned = 0;
  std::string layout = {};  // empty: none was chosen
  std::string layout_from = {};
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/engine/fold.hpp"
#include "models/wse/params.hpp"
#include "models/wse/wafer.hpp"
#include "sim/machines/wse/request.hpp"
#include "sim/machines/wse/result.hpp"
#include "sim/report/critical_path.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {

/// A row into which words stream: what its result says alike of a product and of a gradient.
class StreamRun {
 public:
  explicit StreamRun(const WaferRequest& request);

 protected:
  wse::RunOptions options() const { return run_options(params_, execution_); }

  /// How many `elements` of the program a core has, if any core has some.
  void note_elements(const wse::StreamPlan& plan, const char* elements);
  void note_io(const wse::StreamPlan& plan);
  /// The groups of columns, of which each has its part of the elements, or rows.
  void note_groups(const wse::StreamPlan& plan, const std::string& shared);
  void fill_peaks(const wse::StreamPlan& plan);

  /// The records of `window` of a run of the rows that `fold` keeps, for all rows.
  std::vector<Event> records_of(const wse::Program& program, const wse::FoldPlan& fold,
                                const PathWindow& window) const;
  CriticalPath path_of(std::vector<Event> records, const wse::Program& program,
                       const PathWindow& window) const;

  const WaferRequest& request_;
  const WseParams& params_;
  const LayerOp& op_;
  const Execution& execution_;
  const wse::HardwareParams hardware_;
  WaferResult into_;
  OpResult& result_ = into_.result;
};

}  // namespace lacuna

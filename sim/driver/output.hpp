// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "sim/driver/options.hpp"
#include "sim/driver/result_folder.hpp"
#include "sim/driver/verbs.hpp"
#include "sim/report/summary.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The result folder of a request. It is checked before anything is simulated and written, whole,
/// when all is known.
class Output {
 public:
  Output(const std::string& folder, const Options& options);

  void write(const WorkloadTrace& workload, const std::vector<RunRecord>& records,
             const Streams& streams);

 private:
  ResultHeader header(const WorkloadTrace& workload) const;
  std::string host() const;

  ResultFolder folder_;
  const Options& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lacuna

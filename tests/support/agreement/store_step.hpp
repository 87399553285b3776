// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "sim/report/tables/summary.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::test {

/// A matrix that is trained on wafers of 8 x 8 cores that share a store.
struct StoreStep {
  explicit StoreStep(Random& random);

  WorkloadTrace rows(const std::string& dtype) const;
  WaferSystemRun run(const std::string& dtype, std::vector<std::string> settings = {},
                     RunRecord* kept = nullptr) const;

  std::uint32_t m;
  std::uint32_t k;
  std::uint32_t n;
  std::string machine;
  std::string density;  // empty: dense
  bool trains = true;   // or goes forward alone
};

}  // namespace lacuna::test

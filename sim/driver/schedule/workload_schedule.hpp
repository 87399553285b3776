// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/schedule.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// A training schedule of the prunable weights of a model, and which of its phases are simulated.
struct ScheduleRequest {
  const ModelShape* model = nullptr;
  ScheduleOptions options;
  std::uint32_t layers = 1;
  std::uint32_t sequences = 1;
  std::uint32_t tokens = 128;
  std::uint64_t samples = 10;  // phases that are written and simulated, evenly spread
  bool training = false;       // products of the backward pass too
};

/// The settings of `lacuna trace schedule`, with what they mean.
const std::vector<std::pair<const char*, const char*>>& schedule_keys();

/// Reads the settings of `lacuna trace schedule KIND`. RequestError names what is wrong.
ScheduleRequest read_schedule(const std::string& kind, const Pairs& pairs, std::uint64_t seed);

/// A phase, and the trace of one of its steps if it is a sample.
struct SchedulePoint {
  SchedulePhase phase;
  double imbalance = 1;       // largest over mean cell of 16 x 16, mean over the matrices
  std::uint64_t steps = 0;    // that this sample stands for
  std::uint64_t updates = 0;  // of the pattern before them, likewise
  std::string path;           // of its trace; empty if it is no sample
  double flop = 0;  // of a training step of the encoder, the mean of its phase: products, attention
};

/// Walks the schedule, writes masks and traces of the samples into `folder` and gives all phases.
std::vector<SchedulePoint> write_schedule(const ScheduleRequest& request, const std::string& folder,
                                          const std::string& command);

/// The dense trace of one step, and its FLOP.
WorkloadTrace dense_step(const ScheduleRequest& request);
double dense_step_flop(const ScheduleRequest& request);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/result/result_model.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/driver/run/point_runner.hpp"
#include "sim/driver/run/pricing.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/import/request_file.hpp"
#include "workloads/mapping/system/inference_params.hpp"

namespace lacuna {

/// What a language model is asked for: what all machines of a request share.
struct ModelRequest {
  const Options& options;
  const MachineTable& kinds;
  ModelShape model;
  system::InferenceParams params;
  std::vector<std::string> settings;  // of machines
  RunSettings run;
  std::vector<ServingRequest> requests;
  std::string remark;  // of what the file of the model says and a run does not do
};

/// Reads and checks what the words of `options` say; these outlive the request.
ModelRequest read_model_request(const Options& options, const MachineTable& kinds);

/// What machine or system `name` comes to.
ModelOutcome run_model(const ModelRequest& request, const std::string& name, const Pricing& pricing,
                       PartCache& cache);

/// The cache that the options name, or the user's.
PartCache model_cache(const Options& options);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/generate/model_shape.hpp"
#include "workloads/import/model_config.hpp"

namespace lacuna {

/// A `model_type` of config.json that is read.
struct ModelType {
  const char* name;
  const char* prefix;  // of its classes, as in "LlamaForCausalLM"
  ModelShape (*read)(ModelConfig& config);
};

const std::vector<ModelType>& model_types();

/// The type of a config: what its model_type says, else its architectures, else what keys that only
/// one tool writes show. TraceError if it is none that is read: with the reason for those that are
/// known to have what no row stands for, else with the keys that were not understood.
const ModelType& find_model_type(ModelConfig& config);

}  // namespace lacuna

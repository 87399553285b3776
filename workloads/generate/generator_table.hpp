// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/pattern_rules.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// A workload that can be made by name; a row of the table of generators.
struct Generator {
  std::string name;
  std::string meaning;
  std::vector<std::string> keys;
};

const std::vector<Generator>& generators();

/// A setting with its meaning, for help.
struct GeneratorKey {
  std::string name;
  std::string allowed;
  std::string meaning;
  bool is_flag = false;    // alone it means 1
  bool of_models = false;  // a setting of transformers
};
const std::vector<GeneratorKey>& generator_keys();

/// Makes the workload `name` from key=value settings: "gemm" with shape=MxKxN, or a model such
/// as "bert-base" with part, tokens, ... RequestError names what is wrong and the nearest name.
WorkloadTrace generate_workload(const std::string& name, const Pairs& settings);

/// Makes the workload of a shape that has no name, such as one from a file. `rules` stand before
/// those of the settings.
WorkloadTrace generate_model(const ModelShape& shape, const Pairs& settings,
                             const std::vector<PatternRule>& rules = {});

}  // namespace lacuna

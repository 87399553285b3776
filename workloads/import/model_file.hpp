// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/module_rules.hpp"

namespace lacuna {

/// What a config.json says of a model.
struct ModelFile {
  ModelShape shape;                   // without a name
  std::string type;                   // as the file calls it
  std::string numbers;                // type of operands: fp16, bf16, fp32; empty: it says none
  bool other_parts = false;           // for pictures or sounds, which no shape has
  std::vector<ModuleRule> sparsity;   // zeros that it says its weights have
  std::vector<std::string> left_out;  // parts of the model that are no rows, in words
  bool cut = false;                   // some of the layers of a deeper model
};

/// Reads the text of one; `path` is its name in messages, `skipped` are keys to leave out.
/// TraceError or RequestError with the key that is not understood.
ModelFile read_model_file(const std::string& text, const std::string& path,
                          const std::vector<std::string>& skipped = {});

}  // namespace lacuna

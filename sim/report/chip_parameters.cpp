// SPDX-License-Identifier: Apache-2.0
#include "sim/report/chip_parameters.hpp"

#include <string>

namespace lacuna {

std::vector<ParameterValue> chip_parameters(const RunRecord& run) {
  const std::string prefix = "chip.";
  std::vector<ParameterValue> chip;
  for (const ParameterValue& each : run.parameters) {
    if (each.path.rfind(prefix, 0) != 0) continue;
    chip.push_back(each);
    chip.back().path.erase(0, prefix.size());
  }
  return chip.empty() ? run.parameters : chip;
}

}  // namespace lacuna

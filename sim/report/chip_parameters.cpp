// SPDX-License-Identifier: Apache-2.0
#include "sim/report/chip_parameters.hpp"

#include <string>

#include "sim/base/texts.hpp"

namespace lacuna {

std::vector<ParameterValue> chip_parameters(const RunRecord& run) {
  const std::string prefix = "chip.";
  std::vector<ParameterValue> chip;
  for (const ParameterValue& each : run.parameters) {
    if (!starts_with(each.path, prefix)) continue;
    chip.push_back(each);
    chip.back().path.erase(0, prefix.size());
  }
  return chip.empty() ? run.parameters : chip;
}

}  // namespace lacuna

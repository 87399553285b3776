// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/machine_kind.hpp"

#include "sim/report/chip_parameters.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

std::string value_of(const RunRecord& run, const std::string& path) {
  for (const ParameterValue& each : chip_parameters(run)) {
    if (each.path == path) return each.value;
  }
  return "";
}

std::string asked(const OpRecord& op, const std::string& key) {
  const std::string* const value = find_value(op.request, key);
  return value == nullptr ? "" : *value;
}

}  // namespace lacuna

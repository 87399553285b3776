// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/system/parameters_of.hpp"

#include <cstring>

#include "sim/base/texts.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

void for_each_parameter(const Machine& machine, const ParameterSet::Visitor& visit) {
  const StoreSystem* const system = as_store_system(machine);
  if (system == nullptr) {
    machine.parameters().for_each(visit);
    return;
  }
  system->own().for_each(visit);
  system->chip().parameters().for_each(
      [&](const std::string& path, const ParamBase& each) { visit(kChipPrefix + path, each); });
}

const ParamBase* find_parameter(const Machine& machine, const std::string& path) {
  const StoreSystem* const system = as_store_system(machine);
  if (system == nullptr) return machine.parameters().find(path);
  if (!starts_with(path, kChipPrefix)) return system->own().find(path);
  return system->chip().parameters().find(path.substr(std::strlen(kChipPrefix)));
}

std::vector<ParameterValue> parameter_values(const Machine& machine) {
  std::vector<ParameterValue> values;
  for_each_parameter(machine, [&](const std::string& path, const ParamBase& each) {
    values.push_back({path, each.value_text(), each.unit(), each.is_plain()});
  });
  return values;
}

}  // namespace lacuna

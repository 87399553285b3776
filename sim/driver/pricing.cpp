// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/pricing.hpp"

#include "models/energy/energy_model.hpp"
#include "sim/driver/measure.hpp"

namespace lacuna {

Pricing::Pricing(const std::filesystem::path& folder)
    : table_(EnergyTable::read((folder / "energy_table.csv").string())),
      actions_(ActionTable::read((folder / "energy_actions.csv").string())) {}

void Pricing::price(const Machine& machine, OpRecord& op) const {
  const OpResult& result = op.result;
  EnergyInput input;
  input.cycles = result.cycles;
  input.clock_ghz = result.clock_ghz;
  input.units = result.units;
  input.idle_cycles = idle_unit_cycles(machine.kind(), result.stack);
  const EnergyModel model(table_, actions_, machine.kind(), machine.energy());
  const EnergyResult energy = model.price(result.statistics, input);
  add_energy(op.row, energy.total);
  for (unsigned i = 0; i < kComponents; ++i) {
    const auto component = static_cast<Component>(i);
    op.energy.push_back({component_name(component), energy.of(component)});
  }
  op.energy_factor = energy.uncertainty_factor();
}

}  // namespace lacuna

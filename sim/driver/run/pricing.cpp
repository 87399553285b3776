// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/pricing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/energy/energy_model.hpp"
#include "sim/machines/summary_rows.hpp"
#include "sim/report/chip_parameters.hpp"
#include "sim/report/power_over_time.hpp"

namespace lacuna {

namespace {

/// The cycle stack of one stored unit over a run; cycles of no step are idle.
std::vector<StackPart> stack_of(const UnitSeries& series, std::size_t cell, Cycle cycles) {
  const std::size_t row = series.timed[cell / series.columns];
  const std::size_t place = row * series.columns + cell % series.columns;
  std::vector<StackPart> stack;
  std::uint64_t sum = 0;
  for (const UnitChannel& channel : series.channels) {
    if (channel.group != UnitChannel::Group::stack) continue;
    StackPart part{channel.layer, channel.name, 0};
    for (std::size_t step = 0; step < series.ends.size(); ++step) {
      part.cycles += channel.values[step * series.cells() + place];
    }
    sum += part.cycles;
    stack.push_back(part);
  }
  stack.push_back({Layer::idle, "rest", cycles - std::min<std::uint64_t>(sum, cycles)});
  return stack;
}

EnergyTable read_table(const std::filesystem::path& folder,
                       const std::optional<std::string>& user_table) {
  EnergyTable shipped = shipped_prices(folder);
  return user_table ? EnergyTable::read_over(*user_table, shipped) : shipped;
}

}  // namespace

EnergyTable shipped_prices(const std::filesystem::path& folder) {
  return EnergyTable::read((folder / "energy_table.csv").string())
      .with_set((folder / "energy_set.csv").string());
}

Pricing::Pricing(const std::filesystem::path& folder, const std::optional<std::string>& user_table)
    : table_(read_table(folder, user_table)),
      actions_(ActionTable::read((folder / "energy_actions.csv").string())),
      areas_(folder) {}

void Pricing::price(const std::string& kind, const EnergyParams& params,
                    const std::optional<UnitSilicon>& silicon, OpRecord& op) const {
  const OpResult& result = op.result;
  EnergyInput input;
  input.cycles = result.cycles;
  input.clock_ghz = result.clock_ghz;
  input.units = result.units + result.idle_units;
  if (silicon) {
    input.unit_sram_mb = silicon->sram_mb;
    input.unit_mm2 = silicon->mm2.nominal;
    add_silicon(op.row, silicon->mm2.nominal * static_cast<double>(input.units));
  }
  input.idle_cycles =
      idle_unit_cycles(actions_.unit(kind), result.stack) + result.idle_units * input.cycles;
  const EnergyModel model(table_, actions_, kind, params);
  const EnergyResult energy = model.price(result.statistics, input);
  add_energy(op.row, energy.total);
  op.energy.clear();
  for (unsigned i = 0; i < kComponents; ++i) {
    const auto component = static_cast<Component>(i);
    op.energy.push_back({component_name(component), energy.of(component)});
  }
  op.energy_factor = energy.uncertainty_factor();
  op.power.clear();
  std::vector<StatEntry> counters = result.intervals.counters;
  std::vector<StackPart> stack = result.intervals.stack;
  for (const Interval& each : result.intervals.each) {
    for (std::size_t i = 0; i < counters.size(); ++i) counters[i].value = each.counters[i];
    for (std::size_t i = 0; i < stack.size(); ++i) stack[i].cycles = each.stack[i];
    input.cycles = each.to - each.from;
    input.idle_cycles =
        idle_unit_cycles(actions_.unit(kind), stack) + result.idle_units * input.cycles;
    op.power.push_back(power_of(each, model.price(counters, input).total, result));
  }
}

void Pricing::price_units(const Machine& machine, const OpResult& result, Cycle cycles,
                          UnitSeries& series) const {
  constexpr std::size_t kMostPriced = 65536;
  const std::size_t cells = std::size_t{series.stored_rows} * series.columns;
  if (cells > kMostPriced) {
    series.priced.clear();
    series.loss += fmt::format(" Energy is not shown of more than {} units.", kMostPriced);
    return;
  }
  const std::optional<UnitSilicon> silicon = areas_.unit(machine);
  EnergyInput input;
  input.cycles = cycles;
  input.clock_ghz = result.clock_ghz;
  input.units = 1;
  if (silicon) {
    input.unit_sram_mb = silicon->sram_mb;
    input.unit_mm2 = silicon->mm2.nominal;
  }
  const EnergyModel model(table_, actions_, machine.kind(), machine.energy());
  UnitChannel energy;
  energy.name = "energy";
  energy.unit = "pJ";
  energy.doc =
      "Nominal, of what the unit counted, its clock and its leakage; what the chip has once and "
      "what passes its edge is not in it.";
  energy.group = UnitChannel::Group::whole;
  energy.values.assign(cells, 0);
  std::vector<StatEntry> entries;
  std::vector<double> standing(cells, 0);  // of clock and leakage
  for (const PricedUnits& each : series.priced) entries.push_back(each.entry);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (!series.numbers.empty() && series.numbers[cell] == 0) continue;
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i].value = series.priced[i].values[cell];
    input.idle_cycles =
        idle_unit_cycles(actions_.unit(machine.kind()), stack_of(series, cell, cycles));
    const double joules = model.price(entries, input).total.nominal;
    energy.values[cell] = static_cast<std::uint64_t>(std::llround(joules * 1e12));
    standing[cell] = model.price({}, input).total.nominal * 1e12;
  }
  series.channels.push_back(energy_over_time(energy, standing, series));
  series.channels.push_back(std::move(energy));
  series.priced.clear();
}

void Pricing::reprice(RunRecord& run) const {
  EnergyParams params;
  const std::string prefix = "energy.";
  for (const ParameterValue& parameter : chip_parameters(run)) {
    if (parameter.path.rfind(prefix, 0) != 0) continue;
    params.set(parameter.path.substr(prefix.size()), parameter.value, "result.json");
  }
  const JouleRange joules_before = total_of(run.ops).energy_j.value_or(JouleRange());
  for (OpRecord& op : run.ops) {
    if (op.row.status == Status::ok) price(run.kind, params, run.silicon, op);
    op.row.energy_vs_dense.reset();
  }
  const SummaryRow before = run.total;
  const SummaryRow rows = total_of(run.ops);
  if (before.time_s && rows.time_s && before.silicon_mm2 && rows.silicon_mm2 &&
      *before.time_s != *rows.time_s) {
    // a system's: of its joules those of the operations change
    const double chips = *before.silicon_mm2 / *rows.silicon_mm2;
    JouleRange joules = before.energy_j.value_or(JouleRange());
    joules.add(rows.energy_j.value_or(JouleRange()), chips);
    joules.add(joules_before, -chips);
    add_energy(run.total, joules);
    return;
  }
  run.total = rows;
  run.total.dense_tflops = before.dense_tflops;
  run.total.speedup_vs_dense = before.speedup_vs_dense;
  run.total.time_low_s = before.time_low_s;
  run.total.time_high_s = before.time_high_s;
  run.total.speedup_low = before.speedup_low;
  run.total.speedup_high = before.speedup_high;
  run.total.trust = before.trust;
}

}  // namespace lacuna

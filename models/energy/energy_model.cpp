// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna {

namespace {

constexpr double kJoulesPerPicojoule = 1e-12;
constexpr double kWattsPerMilliwatt = 1e-3;

std::string counter_name(const StatEntry& entry) { return entry.path + "." + entry.name; }

/// Reads and writes of one memory are one estimate, that of the read.
std::string estimate_of(const std::string& event) {
  const std::string write = "sram_write";
  if (event.compare(0, write.size(), write) != 0) return event;
  return "sram_read" + event.substr(write.size());
}

}  // namespace

std::uint64_t idle_unit_cycles(const UnitEnergy& unit, const std::vector<StackPart>& stack) {
  std::uint64_t cycles = 0;
  for (const StackPart& part : stack) {
    const bool busy =
        part.layer == Layer::compute || (part.layer == Layer::exchange && unit.exchange_busy);
    if (!busy) cycles += part.cycles;
  }
  return cycles;
}

EnergyModel::EnergyModel(EnergyTable table, ActionTable actions, std::string machine,
                         const EnergyParams& params)
    : table_(std::move(table)),
      actions_(std::move(actions)),
      machine_(std::move(machine)),
      params_(params) {
  for (const char* event :
       {"clock_overhead", clock_tree(), "idle_clock", "leak_sram", "leak_logic"}) {
    fixed_price(event);
  }
  for (const auto& [action, count] : actions_.unit(machine_).peak_cycle(params_)) {
    for (const ActionRow* row : rows_of(action, "the busiest cycle")) {
      const std::size_t event = index_of(*row, "the busiest cycle");
      if (row->component == Component::fabric) continue;
      unit_peak_pj_.add(table_.rows()[event].price(params_.node), count * row->events(params_));
      unit_peak_events_.emplace_back(event, count * row->events(params_));
    }
  }
}

std::vector<const ActionRow*> EnergyModel::rows_of(const std::string& action,
                                                   const std::string& counter) const {
  std::vector<const ActionRow*> rows = actions_.find(machine_, action);
  if (rows.empty()) {
    throw RequestError(fmt::format(
        "counter '{}' costs the energy action '{}', which has no row for machine '{}' in {}{}",
        counter, action, machine_, actions_.name(), actions_.hint_for(machine_, action)));
  }
  return rows;
}

std::size_t EnergyModel::index_of(const ActionRow& row, const std::string& counter) const {
  const EnergyRow* event = table_.find(row.event);
  if (event == nullptr) {
    throw RequestError(
        fmt::format("counter '{}' costs the energy action '{}', whose event '{}' has no row in {}",
                    counter, row.action, row.event, table_.name()));
  }
  return static_cast<std::size_t>(event - table_.rows().data());
}

const char* EnergyModel::clock_tree() const { return actions_.unit(machine_).clock_tree.c_str(); }

std::size_t EnergyModel::row_of(const char* event) const {
  return static_cast<std::size_t>(table_.find(event) - table_.rows().data());
}

const EnergyRange& EnergyModel::fixed_price(const char* event) const {
  const EnergyRow* row = table_.find(event);
  if (row == nullptr) {
    throw RequestError(fmt::format("the energy event '{}', which every run needs, has no row in {}",
                                   event, table_.name()));
  }
  return row->price(params_.node);
}

EnergyResult EnergyModel::price(const std::vector<StatEntry>& statistics,
                                const EnergyInput& input) const {
  EnergyResult result;
  result.seconds =
      input.clock_ghz > 0 ? static_cast<double>(input.cycles) / input.clock_ghz * 1e-9 : 0;
  result.calibration = params_.calibration;
  Counts counts(table_.rows().size());
  for (const StatEntry& entry : statistics) {
    if (entry.action.empty()) continue;
    const Component component = rows_of(entry.action, counter_name(entry)).front()->component;
    result.items.push_back(
        {entry.path, entry.name, entry.action, component, item_joules(entry, counts)});
  }
  price_events(counts, result);
  price_overheads(input, result);
  for (const EnergyRange& component : result.components) result.total.add(component);
  add_uncertainties(counts, result);
  price_members(counts, input, result);
  return result;
}

/// The components with the nominal prices times a member's factors.
std::array<double, kComponents> EnergyModel::member_parts(const std::vector<double>& factors,
                                                          const Counts& counts,
                                                          const EnergyInput& input) const {
  std::array<double, kComponents> parts{};
  const auto part = [&](Component component) -> double& {
    return parts.at(static_cast<std::size_t>(component));
  };
  const auto price = [&](std::size_t row) {
    return table_.rows()[row].price(params_.node).nominal * factors[row];
  };
  const double on_chip = params_.vdd_squared * params_.calibration * kJoulesPerPicojoule;
  for (std::size_t c = 0; c < kComponents; ++c) {
    const bool off = static_cast<Component>(c) == Component::off_chip;
    for (std::size_t event = 0; event < counts.size(); ++event) {
      const double count = counts[event].at(c);
      if (count != 0) parts.at(c) += count * price(event) * (off ? kJoulesPerPicojoule : on_chip);
    }
  }
  double actions = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(Component::clock); ++c) {
    actions += parts.at(c);
  }
  double peak = 0;
  for (const auto& [event, count] : unit_peak_events_) peak += count * price(event);
  const auto units = static_cast<double>(input.units);
  const double overhead = price(row_of("clock_overhead"));
  part(Component::clock) = overhead * actions;
  part(Component::clock_tree) =
      price(row_of(clock_tree())) * static_cast<double>(input.cycles) * units * on_chip;
  part(Component::idle_clock) = price(row_of("idle_clock")) * overhead *
                                static_cast<double>(input.idle_cycles) * peak * on_chip;
  const double leak_milliwatts = price(row_of("leak_sram")) * input.unit_sram_mb * units +
                                 price(row_of("leak_logic")) * input.unit_mm2 * units;
  const double seconds =
      input.clock_ghz > 0 ? static_cast<double>(input.cycles) / input.clock_ghz * 1e-9 : 0;
  part(Component::leakage) = leak_milliwatts * params_.calibration * kWattsPerMilliwatt * seconds;
  return parts;
}

/// Ranges over the members of a set in place of all prices low and all high. Those of components do
/// not add up to the total's: not the same members are at their ends.
void EnergyModel::price_members(const Counts& counts, const EnergyInput& input,
                                EnergyResult& result) const {
  if (table_.members().empty()) return;
  for (EnergyRange& component : result.components)
    component.low = component.high = component.nominal;
  for (const std::vector<double>& factors : table_.members()) {
    const std::array<double, kComponents> parts = member_parts(factors, counts, input);
    double total = 0;
    for (std::size_t c = 0; c < kComponents; ++c) {
      EnergyRange& component = result.components.at(c);
      component.low = std::min(component.low, parts.at(c));
      component.high = std::max(component.high, parts.at(c));
      total += parts.at(c);
    }
    result.member_joules.push_back(total);
  }
  const auto [least, most] =
      std::minmax_element(result.member_joules.begin(), result.member_joules.end());
  result.total.low = std::min(*least, result.total.nominal);
  result.total.high = std::max(*most, result.total.nominal);
}

EnergyRange EnergyModel::item_joules(const StatEntry& entry, Counts& counts) const {
  EnergyRange joules;
  for (const ActionRow* row : rows_of(entry.action, counter_name(entry))) {
    const std::size_t event = index_of(*row, counter_name(entry));
    const double count = static_cast<double>(entry.value) * row->events(params_);
    counts[event].at(static_cast<std::size_t>(row->component)) += count;
    const bool on_chip = row->component != Component::off_chip;
    joules.add(
        table_.rows()[event].price(params_.node),
        count * (on_chip ? params_.vdd_squared * params_.calibration : 1) * kJoulesPerPicojoule);
  }
  return joules;
}

void EnergyModel::price_events(const Counts& counts, EnergyResult& result) const {
  // off-chip energy takes part in neither voltage nor calibration
  for (std::size_t c = 0; c < kComponents; ++c) {
    const bool on_chip = static_cast<Component>(c) != Component::off_chip;
    const double scale = on_chip ? params_.vdd_squared * params_.calibration : 1;
    for (std::size_t event = 0; event < counts.size(); ++event) {
      result.components.at(c).add(table_.rows()[event].price(params_.node),
                                  counts[event].at(c) * scale * kJoulesPerPicojoule);
    }
  }
}

void EnergyModel::price_overheads(const EnergyInput& input, EnergyResult& result) const {
  const EnergyRange& overhead = fixed_price("clock_overhead");
  const EnergyRange& tree = fixed_price(clock_tree());
  const EnergyRange& idle = fixed_price("idle_clock");
  const auto units = static_cast<double>(input.units);
  const double on_chip = params_.vdd_squared * params_.calibration * kJoulesPerPicojoule;
  const EnergyRange leak_sram = leak_watts("leak_sram", input.unit_sram_mb * units);
  const EnergyRange leak_logic = leak_watts("leak_logic", input.unit_mm2 * units);
  for (const Corner corner : kCorners) {
    double actions = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(Component::clock); ++c) {
      actions += result.components.at(c).at(corner);
    }
    const auto part = [&](Component component) -> double& {
      return result.components.at(static_cast<std::size_t>(component)).at(corner);
    };
    part(Component::clock) = overhead.at(corner) * actions;
    part(Component::clock_tree) =
        tree.at(corner) * static_cast<double>(input.cycles) * units * on_chip;
    part(Component::idle_clock) = idle.at(corner) * overhead.at(corner) *
                                  static_cast<double>(input.idle_cycles) *
                                  unit_peak_pj_.at(corner) * on_chip;
    part(Component::leakage) = (leak_sram.at(corner) + leak_logic.at(corner)) * result.seconds;
  }
  add_uncertainty(result, "clock_overhead", result.of(Component::clock).nominal);
  add_uncertainty(result, clock_tree(), result.of(Component::clock_tree).nominal);
  add_uncertainty(result, "leak_sram", leak_sram.nominal * result.seconds);
  add_uncertainty(result, "leak_logic", leak_logic.nominal * result.seconds);
}

EnergyRange EnergyModel::leak_watts(const char* event, double size) const {
  EnergyRange watts;
  watts.add(fixed_price(event), size * params_.calibration * kWattsPerMilliwatt);
  return watts;
}

void EnergyModel::add_uncertainties(const Counts& counts, EnergyResult& result) const {
  const double with_clock = 1 + fixed_price("clock_overhead").nominal;
  for (std::size_t event = 0; event < counts.size(); ++event) {
    const EnergyRow& row = table_.rows()[event];
    for (std::size_t c = 0; c < kComponents; ++c) {
      const bool on_chip = static_cast<Component>(c) != Component::off_chip;
      const double scale = on_chip ? params_.vdd_squared * params_.calibration * with_clock : 1;
      add_uncertainty(
          result, estimate_of(row.event),
          counts[event].at(c) * row.price(params_.node).nominal * scale * kJoulesPerPicojoule);
    }
  }
}

void EnergyModel::add_uncertainty(EnergyResult& result, const std::string& event,
                                  double joules) const {
  if (joules == 0) return;
  const auto same =
      std::find_if(result.uncertainties.begin(), result.uncertainties.end(),
                   [&](const EnergyUncertainty& each) { return each.event == event; });
  if (same != result.uncertainties.end()) {
    same->joules += joules;
    return;
  }
  const EnergyRow* row = table_.find(event);
  const EnergyRange range = row == nullptr ? EnergyRange{1, 1, 1} : row->price(params_.node);
  if (range.low <= 0) {
    throw RequestError(fmt::format(
        "{}: the low price of event '{}' is {}, so its range has no ratio; it must be above 0",
        table_.name(), event, range.low));
  }
  result.uncertainties.push_back({event, joules, std::log(range.high / range.low) / 2});
}

}  // namespace lacuna

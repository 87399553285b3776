// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/energy/action_table.hpp"
#include "models/energy/energy_params.hpp"
#include "models/energy/energy_table.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna {

/// What pricing needs to know of a run beside its counters.
struct EnergyInput {
  Cycle cycles = 0;
  double clock_ghz = 0;
  std::uint64_t units = 0;        // tiles or cores simulated; they leak, the others do not
  double unit_sram_mb = 0;        // SRAM of one of them, in 10^6 bytes
  double unit_mm2 = 0;            // silicon of one of them, its share of what the chip has once too
  std::uint64_t idle_cycles = 0;  // see idle_unit_cycles(); gated cycles included
};

/// Unit-cycles in which a datapath did nothing, whatever the reason, of a cycle stack: idle,
/// stall, sync, imbalance, and exchange if the unit does not work in it.
std::uint64_t idle_unit_cycles(const UnitEnergy& unit, const std::vector<StackPart>& stack);

/// What one counter cost, without its share of the clock.
struct EnergyItem {
  std::string path;  // of the statistic
  std::string name;
  std::string action;
  Component component;
  EnergyRange joules;
};

/// A part of the nominal energy that hangs on one estimate, and how wide that estimate is.
struct EnergyUncertainty {
  std::string event;
  double joules = 0;
  double half_log = 0;  // ln(high / low) / 2
};

/// The energy of one operation or, added up, of several. Joules, calibration included.
struct EnergyResult {
  std::array<EnergyRange, kComponents> components{};  // by Component
  EnergyRange total;                                  // their sum
  double seconds = 0;
  double calibration = 1;
  std::vector<double> member_joules;             // the total with each member of a set of prices
  std::vector<EnergyItem> items;                 // per priced counter
  std::vector<EnergyUncertainty> uncertainties;  // by estimate, for factor()

  const EnergyRange& of(Component component) const {
    return components.at(static_cast<std::size_t>(component));
  }

  /// What is drawn whatever is done, and what comes with activity, links included.
  EnergyRange standing() const;
  EnergyRange activity() const;

  /// Mean power in watts; 0 of a run that took no time.
  double power_w(Corner corner) const;

  /// The usual spread of the nominal total: it is good to times or divided by this. With a set of
  /// prices the standard deviation of its members' totals; else reading each price's low and high
  /// as one standard deviation of independent factors.
  double uncertainty_factor() const;

  /// This result, `times` over.
  EnergyResult repeated(double times) const;

  /// Adds another operation on the same chip.
  EnergyResult& operator+=(const EnergyResult& other);

 private:
  void add_members(const EnergyResult& other);
};

/// Prices the counters of finished runs on one chip. A pure function of counters, tables and
/// chip parameters: nothing is simulated, and equal counters give equal joules.
class EnergyModel {
 public:
  /// `machine` is a kind. RequestError if the tables lack what every run needs.
  EnergyModel(EnergyTable table, ActionTable actions, std::string machine,
              const EnergyParams& params);

  /// RequestError, naming counter and action, if a counter cannot be priced.
  EnergyResult price(const std::vector<StatEntry>& statistics, const EnergyInput& input) const;

  /// Picojoules of a unit's busiest cycle before clock and voltage; idle clocking costs a share
  /// of it. Words on a wafer's links are not part of it.
  const EnergyRange& unit_peak_pj() const { return unit_peak_pj_; }

 private:
  /// Events by row of the table and component.
  using Counts = std::vector<std::array<double, kComponents>>;

  std::size_t index_of(const ActionRow& row, const std::string& counter) const;
  std::vector<const ActionRow*> rows_of(const std::string& action,
                                        const std::string& counter) const;
  const EnergyRange& fixed_price(const char* event) const;
  EnergyRange item_joules(const StatEntry& entry, Counts& counts) const;
  void price_events(const Counts& counts, EnergyResult& result) const;
  void price_overheads(const EnergyInput& input, EnergyResult& result) const;
  std::array<double, kComponents> member_parts(const std::vector<double>& factors,
                                               const Counts& counts,
                                               const EnergyInput& input) const;
  void price_members(const Counts& counts, const EnergyInput& input, EnergyResult& result) const;
  void add_uncertainties(const Counts& counts, EnergyResult& result) const;
  void add_uncertainty(EnergyResult& result, const std::string& event, double joules) const;
  EnergyRange leak_watts(const char* event, double size) const;
  const char* clock_tree() const;
  std::size_t row_of(const char* event) const;

  EnergyTable table_;
  ActionTable actions_;
  std::string machine_;
  EnergyParams params_;
  EnergyRange unit_peak_pj_;
  std::vector<std::pair<std::size_t, double>> unit_peak_events_;  // rows of the table, and how many
};

}  // namespace lacuna

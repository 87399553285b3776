// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/system/ledger.hpp"
#include "sim/driver/result/quantity_screen.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

using system::EnergyAccount;
using system::SystemEnergyPart;

/// Joules over those of a dense run: nominal, and the ends of the three corners. Prices are alike
/// in both, so that it is a narrower range than that of either. Nothing if one of them is not
/// known.
std::optional<JouleRange> energy_over(const std::optional<JouleRange>& joules,
                                      const std::optional<JouleRange>& dense);

/// Adds NAME, NAME_low and NAME_high, each divided by `over`.
void add_range(const std::string& name, const JouleRange& range, double over, const char* unit,
               std::vector<NamedQuantity>& to);

/// Adds energy_vs_dense: the joules of a run over those of its dense run.
void add_over_dense(const JouleRange& joules, const JouleRange& dense,
                    std::vector<NamedQuantity>& to);

/// A table of all parts and their sum; low and high are those of the operations.
std::string energy_text(const std::string& title, const EnergyAccount& account);

/// What may draw power all the time, and how much: 0 where it is not known.
struct StandingPower {
  std::string text;
  double watts = 0;
};

/// A line that names what has no known power, as the account leaves it out. Empty if there is
/// nothing.
std::string not_counted(const std::vector<StandingPower>& all);

/// A number among the parameters of a chip; RequestError if it has none of that path.
double number_of(const Machine& chip, const char* path);

/// Power of a chip all of whose tiles or cores do nothing, in watts.
JouleRange idle_watts(const Machine& chip, const Pricing& pricing);

/// The same of `units` of its tiles or cores.
JouleRange idle_watts(const Machine& chip, const Pricing& pricing, std::uint64_t units);

/// Bytes that came in at the edge of a wafer in all executions of a row; 0 of other machines.
std::uint64_t edge_bytes(const OpResult& result);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/energy/energy_comparison.hpp"

#include <algorithm>

namespace lacuna {

bool EnergyComparison::robust() const {
  const bool one_side = (least > 1) == (most > 1) && least != 1 && most != 1;
  return one_side && least >= nominal * 0.9 && most <= nominal * 1.1;
}

EnergyComparison compare_energy(const EnergyTable& table, const ActionTable& actions,
                                const std::string& machine, const EnergyParams& params,
                                const EnergyRun& one, const EnergyRun& other) {
  const auto ratio = [&](const EnergyTable& prices) {
    const EnergyModel model(prices, actions, machine, params);
    return model.price(one.statistics, one.input).total.nominal /
           model.price(other.statistics, other.input).total.nominal;
  };
  EnergyComparison result;
  result.nominal = ratio(table);
  result.least = result.nominal;
  result.most = result.nominal;
  for (const EnergyRow& row : table.rows()) {
    const double low = ratio(table.with_fixed(row.event, Corner::low));
    const double high = ratio(table.with_fixed(row.event, Corner::high));
    const EnergyMover mover{row.event, std::min(low, high), std::max(low, high)};
    result.least = std::min(result.least, mover.least);
    result.most = std::max(result.most, mover.most);
    if (mover.span() > 0) result.movers.push_back(mover);
  }
  std::stable_sort(result.movers.begin(), result.movers.end(),
                   [](const EnergyMover& a, const EnergyMover& b) { return a.span() > b.span(); });
  return result;
}

}  // namespace lacuna

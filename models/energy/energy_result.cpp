// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "models/energy/energy_model.hpp"

namespace lacuna {

namespace {

void scale(EnergyRange& range, double times) {
  for (const Corner corner : kCorners) range.at(corner) *= times;
}

void add(EnergyRange& sum, const EnergyRange& part) {
  for (const Corner corner : kCorners) sum.at(corner) += part.at(corner);
}

}  // namespace

double EnergyResult::power_w(Corner corner) const {
  return seconds > 0 ? total.at(corner) / seconds : 0;
}

double EnergyResult::uncertainty_factor() const {
  double variance = 0;
  for (const EnergySpread& spread : spreads) {
    const double part = spread.joules / total.nominal * spread.half_log;
    variance += part * part;
  }
  return std::exp(std::sqrt(variance));
}

EnergyResult EnergyResult::repeated(double times) const {
  EnergyResult result = *this;
  for (EnergyRange& component : result.components) scale(component, times);
  for (EnergyItem& item : result.items) scale(item.joules, times);
  for (EnergySpread& spread : result.spreads) spread.joules *= times;
  scale(result.total, times);
  result.seconds *= times;
  return result;
}

EnergyResult& EnergyResult::operator+=(const EnergyResult& other) {
  for (std::size_t c = 0; c < kComponents; ++c) add(components.at(c), other.components.at(c));
  add(total, other.total);
  seconds += other.seconds;
  calibration = other.calibration;
  for (const EnergyItem& item : other.items) {
    const auto same = std::find_if(items.begin(), items.end(), [&](const EnergyItem& each) {
      return each.path == item.path && each.name == item.name;
    });
    if (same == items.end()) {
      items.push_back(item);
    } else {
      add(same->joules, item.joules);
    }
  }
  for (const EnergySpread& spread : other.spreads) {
    const auto same = std::find_if(spreads.begin(), spreads.end(), [&](const EnergySpread& each) {
      return each.event == spread.event;
    });
    if (same == spreads.end()) {
      spreads.push_back(spread);
    } else {
      same->joules += spread.joules;
    }
  }
  return *this;
}

}  // namespace lacuna

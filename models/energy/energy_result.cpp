// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "models/energy/energy_model.hpp"

namespace lacuna {

namespace {

void scale(EnergyRange& range, double times) {
  for (const Corner corner : kCorners) range.at(corner) *= times;
}

}  // namespace

double EnergyResult::power_w(Corner corner) const {
  return seconds > 0 ? total.at(corner) / seconds : 0;
}

EnergyRange EnergyResult::standing() const {
  EnergyRange sum;
  for (std::size_t c = 0; c < kComponents; ++c) {
    if (is_standing(static_cast<Component>(c))) sum.add(components.at(c));
  }
  return sum;
}

EnergyRange EnergyResult::activity() const {
  EnergyRange sum;
  for (std::size_t c = 0; c < kComponents; ++c) {
    if (!is_standing(static_cast<Component>(c))) sum.add(components.at(c));
  }
  return sum;
}

double EnergyResult::uncertainty_factor() const {
  if (!member_joules.empty()) {
    const auto count = static_cast<double>(member_joules.size());
    double sum = 0;
    double squares = 0;
    for (const double joules : member_joules) {
      const double log = std::log(joules);
      sum += log;
      squares += log * log;
    }
    return std::exp(std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count))));
  }
  double variance = 0;
  for (const EnergyUncertainty& part : uncertainties) {
    const double share = part.joules / total.nominal * part.half_log;
    variance += share * share;
  }
  return std::exp(std::sqrt(variance));
}

EnergyResult EnergyResult::repeated(double times) const {
  EnergyResult result = *this;
  for (EnergyRange& component : result.components) scale(component, times);
  for (EnergyItem& item : result.items) scale(item.joules, times);
  for (EnergyUncertainty& part : result.uncertainties) part.joules *= times;
  scale(result.total, times);
  for (double& joules : result.member_joules) joules *= times;
  result.seconds *= times;
  return result;
}

/// The total of a sum ranges over what each member has for the whole.
void EnergyResult::add_members(const EnergyResult& other) {
  if (member_joules.empty()) member_joules.assign(other.member_joules.size(), 0);
  if (other.member_joules.size() != member_joules.size() || member_joules.empty()) {
    member_joules.clear();
    return;
  }
  for (std::size_t m = 0; m < member_joules.size(); ++m) member_joules[m] += other.member_joules[m];
  const auto [least, most] = std::minmax_element(member_joules.begin(), member_joules.end());
  total.low = *least;
  total.high = *most;
}

EnergyResult& EnergyResult::operator+=(const EnergyResult& other) {
  for (std::size_t c = 0; c < kComponents; ++c) components.at(c).add(other.components.at(c));
  total.add(other.total);
  add_members(other);
  seconds += other.seconds;
  calibration = other.calibration;
  for (const EnergyItem& item : other.items) {
    const auto same = std::find_if(items.begin(), items.end(), [&](const EnergyItem& each) {
      return each.path == item.path && each.name == item.name;
    });
    if (same == items.end()) {
      items.push_back(item);
    } else {
      same->joules.add(item.joules);
    }
  }
  for (const EnergyUncertainty& part : other.uncertainties) {
    const auto same =
        std::find_if(uncertainties.begin(), uncertainties.end(),
                     [&](const EnergyUncertainty& each) { return each.event == part.event; });
    if (same == uncertainties.end()) {
      uncertainties.push_back(part);
    } else {
      same->joules += part.joules;
    }
  }
  return *this;
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace lacuna {

/// Which estimate of every price is used; all prices of a sum are taken at the same corner.
enum class Corner { low, nominal, high };

constexpr std::array<Corner, 3> kCorners{Corner::low, Corner::nominal, Corner::high};

/// One quantity at the three corners of the energy table.
struct EnergyRange {
  double low = 0;
  double nominal = 0;
  double high = 0;

  double& at(Corner corner) {
    if (corner == Corner::low) return low;
    return corner == Corner::nominal ? nominal : high;
  }

  double at(Corner corner) const {
    if (corner == Corner::low) return low;
    return corner == Corner::nominal ? nominal : high;
  }

  /// Each corner grows by that of `part`, `times` over.
  void add(const EnergyRange& part, double times = 1) {
    low += part.low * times;
    nominal += part.nominal * times;
    high += part.high * times;
  }
};

}  // namespace lacuna

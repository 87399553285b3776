// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// One of the systems of a figure: how many it has of what scales, what it does in a second, and
/// what the first system's would be of as many more.
struct ScalingPoint {
  double count = 0;
  double rate = 0;
  double most = 0;
  double low = 0;  // of the rate, where nine of ten published values lie; 0: not known
  double high = 0;
};

/// What a figure of how systems scale is called.
struct ScalingWords {
  std::string name;
  std::vector<std::string> title;
  std::string counted;  // such as "chips"
  std::string rate;     // such as "sequences/s"
};

/// What is simulated, beside as many more as there are.
Figure scaling_lines(const ScalingWords& words, const std::vector<ScalingPoint>& points);

}  // namespace lacuna

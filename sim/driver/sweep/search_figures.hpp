// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/sweep/search_order.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// What a search says of itself beside its points.
struct SearchCourse {
  std::vector<Objective> objectives;                // the axes of figures
  std::vector<std::size_t> taken;                   // points, in the order they were simulated
  std::vector<std::string> axes;                    // what varies,
  std::vector<std::vector<std::string>> axis_text;  // and its value at each point
};

/// With one objective: the best so far over what was simulated, above the lowest bound. With two:
/// all simulated points and the front, the first of which are named. None if nothing was simulated,
/// or values are not above 0.
Figures search_figures(const SearchOrder& order, const SearchCourse& course);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// How much each tile or core of a rectangle did: a map with a cell for each of them.
struct LoadMap {
  std::string name;  // of the files
  std::vector<std::string> title;
  std::string quantity;  // such as "Busy cycles, % of all"
  std::size_t columns = 0;
  std::vector<double> values;  // row by row, from the top; NaN where there is no unit
};

/// Pale where little was done, dark where much, on a scale from 0 to the largest value.
Figure draw_load_map(const LoadMap& map);

/// A stretch of time in which a track did one thing.
struct PhaseSpan {
  std::string track;  // such as "tile 17" or "exchange"
  std::string phase;
  Layer layer = Layer::compute;
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // the first cycle after it
  double busy = 1;       // share of its units that worked; paler if less
};

/// Tracks from the top in the order they first appear, time to the right, colours by layer.
Figure draw_phases(const std::string& name, const std::vector<std::string>& title,
                   const std::vector<PhaseSpan>& spans);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/ipu_chip.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What each tile of a finished run of `program`, whose supersteps were marked, did. A step ends at
/// the release of each barrier; each exchange is one. On the floor plan of the die.
UnitSeries tile_series(ipu::IpuChip& chip, const ipu::Program& program, Cycle cycles);

}  // namespace lacuna

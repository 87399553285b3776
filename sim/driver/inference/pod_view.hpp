// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/system/simulation.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What each of `columns` x `rows` chips did in a run of `program`, whose segments have events: a
/// step between two moments at which a chip begins something else; of long programs one for each
/// run of a segment, which the series says. Chip r * columns + c is at row r and column c.
UnitSeries chip_series(const system::Program& program, const system::ProgramResult& run,
                       std::uint32_t columns, std::uint32_t rows);

}  // namespace lacuna

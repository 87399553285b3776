// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The rows of routers before the first with tokens (Program::distribution_rows) bring words along
/// the row to their columns: from the west edge, or from the column whose stream others get too. A
/// router has one way for a color, so words of equal color must never cross.

/// Colors that the words then need in a row of cores beside those of the sums and of an exchange.
std::uint32_t stream_colors(const Program& program);

/// Chooses the row and the color of each column's words. InternalError if there are too few colors.
void choose_distribution(Program& program);

/// Adds the routers of distribution row `row`.
void add_distribution_row(Program& program, std::uint32_t row);

}  // namespace lacuna::wse

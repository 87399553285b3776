// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lacuna::wse {

/// The units of the event log by number: router and core of each place, row by row, then the
/// injectors of the first columns.
std::vector<std::string> event_unit_names(std::uint32_t rows, std::uint32_t columns,
                                          std::uint32_t injectors);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "models/wse/program/event_units.hpp"

#include <fmt/format.h>

namespace lacuna::wse {

std::vector<std::string> event_unit_names(std::uint32_t rows, std::uint32_t columns,
                                          std::uint32_t injectors) {
  std::vector<std::string> names;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      names.push_back(fmt::format("wafer.r{}.c{}.router", r, c));
      names.push_back(fmt::format("wafer.r{}.c{}.core", r, c));
    }
  }
  for (std::uint32_t c = 0; c < injectors; ++c) {
    names.push_back(fmt::format("wafer.injector.c{}", c));
  }
  return names;
}

}  // namespace lacuna::wse

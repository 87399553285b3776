// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/wse/fabric/router.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// A program's routers and cores, joined by links.
struct MeshPlan {
  std::vector<std::vector<RouterInput>> inputs;  // by core, row-major
  std::vector<CorePorts> ports;
  std::vector<LinkId> injectors;  // by column, then as Program::background
  std::vector<LinkId> outlets;    // as Program::outlets
};

/// Makes the links of `program` in `links`. InternalError if a route leads to a router that has
/// no route for its color there.
MeshPlan build_mesh(const HardwareParams& params, const Program& program, LinkArray& links);

/// The number of a core's router; the core is the next one.
constexpr UnitId router_unit(std::size_t columns, std::size_t row, std::size_t column) {
  return static_cast<UnitId>(2 * (row * columns + column));
}

}  // namespace lacuna::wse

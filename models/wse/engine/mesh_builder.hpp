// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "models/wse/fabric/router.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// A program's routers and cores, joined by links; by core, row-major.
struct MeshPlan {
  /// Where words of a color come in from outside the rectangle, or go out of it.
  struct Edge {
    std::size_t core = 0;
    Color color{};
    unsigned port = 0;
    LinkId link = kNoLink;
  };

  std::vector<std::vector<RouterInput>> inputs;
  std::vector<CorePorts> ports;
  std::vector<Edge> inlets;
  std::vector<Edge> outlets;
};

/// Makes the links of `program` in `links`. InternalError if a route leads where nothing takes it,
/// or a program names a queue that the cores do not have.
MeshPlan build_mesh(const HardwareParams& params, const Program& program, LinkArray& links);
MeshPlan build_mesh(const TaskParams& params, const TaskProgram& program, LinkArray& links);

/// The links of the ways in, by column, then as Program::background; and of those out, as
/// Program::outlets.
std::vector<LinkId> injector_links(const Program& program, const MeshPlan& plan);
std::vector<LinkId> outlet_links(const Program& program, const MeshPlan& plan);

/// The number of a core's router; the core is the next one.
constexpr UnitId router_unit(std::size_t columns, std::size_t row, std::size_t column) {
  return static_cast<UnitId>(2 * (row * columns + column));
}

}  // namespace lacuna::wse

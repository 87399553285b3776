// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/lanes/lane_code.hpp"
#include "models/wse/lanes/shape.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse::lanes {

/// The tasks of a core; equal ones are held once.
struct Code {
  std::vector<std::shared_ptr<const TaskCode>> tasks;
};

/// The colors of a class in a router: one, if it has a switch.
struct ColorUse {
  std::array<int, kPorts> color{-1, -1, -1, -1, -1};  // by port it comes from
  std::array<std::array<PortSet, 4>, kPorts> to{};    // and position
  std::uint8_t positions = 1;
  bool ring = false;
  bool pop = false;
  int down = -1;  // the one that comes down the ramp
};

/// Words of the queues of a core, by class.
struct Rooms {
  std::array<std::uint8_t, kMostClasses> in{};
  std::array<std::uint8_t, kMostClasses> out{};
};

/// A program of tasks as lanes run it: each color belongs to a class, each microthread is a
/// context.
struct LanePlan {
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  Shape needs;
  Names names;
  std::vector<std::array<ColorUse, kMostClasses>> routers;         // by description
  std::vector<Code> codes;                                         // by core program
  std::map<std::pair<std::uint32_t, std::uint32_t>, Rooms> rooms;  // by core program and router
};

/// Why lanes cannot run a program on this hardware; empty if they can, and `plan` is filled.
std::string plan_lanes(const TaskParams& params, const TaskProgram& program, LanePlan& plan);

}  // namespace lacuna::wse::lanes

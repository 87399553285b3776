// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/wse/lanes/shape.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"

namespace lacuna::wse::lanes {

/// The next thing that the main thread of a core does.
struct Op {
  enum class Kind : std::uint8_t {
    start,  // a microthread gets an instruction of `count` beats; waits until it is idle
    wait,   // until the microthread is idle
    beats,  // of the main thread
    tell,   // tasks
  };
  Kind kind = Kind::beats;
  std::uint8_t context = 0;
  std::uint8_t extra = 0;  // cycles of each beat beyond the first
  bool continues = false;  // what the op before began
  std::uint8_t takes = 0;  // classes of which each beat takes a word, as bits,
  std::uint8_t sends = 0;  // and of which it sends one
  std::uint32_t count = 0;
  TaskIndex activates = kNoTask;  // when it is over
  TaskIndex unblocks = kNoTask;
  TaskIndex blocks = kNoTask;
  SwitchCommands switches = 0;  // with its last word
};

struct Code {
  struct Task {
    bool active = false;
    bool blocked = false;
    std::size_t begun = 0;  // ops until all steps have begun
    std::vector<Op> ops;
  };
  std::vector<std::shared_ptr<const Task>> tasks;  // equal ones are held once
};

/// The colors of a class in a router: one, if it has a switch.
struct ColorUse {
  std::array<int, kPorts> color{-1, -1, -1, -1, -1};  // by port it comes from
  std::array<std::array<PortSet, 4>, kPorts> to{};    // and position
  std::uint8_t positions = 1;
  bool ring = false;
  bool pop = false;
};

/// A program of tasks as lanes run it: each color belongs to a class, each microthread is a
/// context.
struct LanePlan {
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  Shape needs;
  std::vector<std::array<ColorUse, kMostClasses>> routers;                // by description
  std::vector<Code> codes;                                                // by core program
  std::vector<std::array<std::uint8_t, kMostClasses>> in_room, out_room;  // by core program
};

/// Why lanes cannot run a program on this hardware; empty if they can, and `plan` is filled.
std::string plan_lanes(const TaskParams& params, const TaskProgram& program, LanePlan& plan);

}  // namespace lacuna::wse::lanes

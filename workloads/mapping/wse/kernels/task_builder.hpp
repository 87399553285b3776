// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/wse/program/task_program.hpp"

namespace lacuna::wse {

/// The next multiple of 8 bytes, at which a vector of any type begins.
constexpr std::uint32_t aligned(std::uint32_t bytes) { return (bytes + 7) / 8 * 8; }

/// The neighbours of a core, clockwise.
constexpr std::array<Port, 4> kSides = {kNorth, kEast, kSouth, kWest};

/// An instruction of the main thread over `length` elements.
inline Instruction instruction(VectorOp op, Element element, const Operand& to, const Operand& a,
                               const Operand& b, std::uint64_t length) {
  Instruction made;
  made.op = op;
  made.element = element;
  made.to = to;
  made.a = a;
  made.b = b;
  made.length = static_cast<std::uint32_t>(length);
  return made;
}
inline Instruction move(Element element, const Operand& to, const Operand& from,
                        std::uint64_t length) {
  return instruction(VectorOp::move, element, to, from, Operand(), length);
}

/// A core's tasks, written one step after the other. A step is waited for (`then`), or its
/// completion activates a new local task, which the following steps belong to (`round`; in a
/// microthread unless said otherwise): what a kernel does that works in rounds, and pays a dispatch
/// between them.
class Script {
 public:
  Script() { task().active = true; }

  void then(const Step& step) { task().steps.push_back(step); }
  void then(const Instruction& instruction) { then(run(instruction)); }
  void round(Instruction instruction, std::uint8_t thread = kMicrothreads);

  /// In microthread `thread`, 1 to 7, beside what follows.
  void beside(Instruction instruction, std::uint8_t thread);

  /// The program; without a task that nothing was written into.
  CoreProgram finish() &&;

  CoreProgram& program() { return program_; }

 private:
  Task& task();

  CoreProgram program_;
  bool next_ = true;  // the next step opens a task
};

/// Puts a TaskProgram together. Cores and routers that do the same share a description.
class TaskBuilder {
 public:
  TaskBuilder(std::uint32_t columns, std::uint32_t rows);

  std::uint32_t columns() const { return program_.columns; }
  std::uint32_t rows() const { return program_.rows; }
  std::size_t place(std::uint32_t row, std::uint32_t column) const {
    return std::size_t{row} * program_.columns + column;
  }

  /// Adds ports to where words of `color` from `from` go, at one position of the switch.
  void route(std::size_t place, Color color, Port from, PortSet to, std::uint8_t position = 0);

  /// The router takes its own command out of the list that wavelets of `color` carry. `ring`: its
  /// last position is followed by the first.
  void pops(std::size_t place, Color color, bool ring = false) { rule(place, {color, ring, true}); }
  void rule(std::size_t place, RouterProgram::Rule what) { router(place).rules.push_back(what); }

  /// What of the words of `color` that come down the ramp the core takes.
  void filter(std::size_t place, Color color, const WaveletFilter& filter) {
    router(place).filters.push_back({color, filter});
  }

  /// Routes a path of neighbouring cores, from the ramp of the first to that of the last.
  void path(const std::vector<std::size_t>& places, Color color);

  /// Core `at` of a line of `cores` that send one after the other, each to all others: before its
  /// turn its router lets words through that come from lower places, afterwards from higher ones.
  struct Turn {
    std::uint32_t at = 0;
    std::uint32_t cores = 1;
    Port low = kWest;
    Port high = kEast;
    bool to_itself = false;
  };
  void turn(std::size_t place, Color color, const Turn& turn);

  void core(std::size_t place, std::uint32_t program) { program_.core_of[place] = program; }
  void core(std::size_t place, CoreProgram program) { core(place, add(std::move(program))); }
  /// Gives `place` the routes and the program that `like` has. It shares both from now on.
  void repeat(std::size_t like, std::size_t place) {
    program_.router_of[place] = program_.router_of[like];
    program_.core_of[place] = program_.core_of[like];
  }
  /// The number of a program for core(),
  std::uint32_t add(CoreProgram program);
  /// and of equal ones the same. It remembers each in bytes, as long as the program.
  std::uint32_t share(CoreProgram program);

  /// The number of a routine, for call().
  std::uint32_t add_routine(Routine routine);

  /// The port of `from` that leads to its neighbour `to`.
  Port towards(std::size_t from, std::size_t to) const;

  TaskProgram finish() &&;

 private:
  /// That of a place, which gets its own when it is asked for.
  RouterProgram& router(std::size_t place);

  TaskProgram program_;
  std::vector<RouterProgram> routers_;                     // the first does nothing
  std::unordered_map<std::string, std::uint32_t> shared_;  // programs, by all that they say
};

/// A core by itself.
TaskProgram single_core(CoreProgram program);

/// The memory of each core of the rectangle, row-major, in bytes; empty where none is used.
using WaferMemory = std::vector<std::vector<std::uint8_t>>;

/// Numbers of a result beside those of the reference.
struct LayerComparison {
  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;
  double largest_error = 0;  // absolute

  void add_exact(float found, float expected) {
    ++compared;
    if (!(found == expected)) ++wrong;
  }
};

/// The bytes a core starts with; with values only.
class MemoryImage {
 public:
  explicit MemoryImage(std::uint32_t bytes) : bytes_(bytes, 0) {}

  void put(std::uint32_t address, Element element, float value);
  std::vector<std::uint8_t> take() && { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/system/fabric.hpp"
#include "models/system/params.hpp"
#include "models/system/program.hpp"
#include "models/system/simulation.hpp"
#include "sim/base/energy_range.hpp"

namespace lacuna::system {

/// What a program says beside its time. Each function reads the entries of all of its segments.

/// Bytes of one memory at the moment at which most of it is taken.
struct MemoryUse {
  std::array<std::uint64_t, kHeld> bytes{};

  std::uint64_t of(Held what) const { return bytes[static_cast<std::size_t>(what)]; }
  std::uint64_t total() const;
};

/// A memory at its fullest, and how much there is room for.
struct MemoryAccount {
  std::size_t phase = 0;  // of execution
  unsigned chip = 0;      // place of a replica
  MemoryUse use;
  std::uint64_t capacity = 0;
  std::string name = {};  // "store", in place of the number of a chip

  bool fits() const { return use.total() <= capacity; }
};

/// The memories of a replica at their fullest.
struct ProgramMemory {
  std::vector<std::vector<MemoryUse>> chips;  // by phase and place
  MemoryUse streaming;                        // for all places together
};

/// The memories of a replica at their fullest while a segment is run.
struct SegmentMemory {
  std::vector<MemoryUse> chips;  // by place
  MemoryUse streaming;
};

/// Replays what the entries take and give back: one for each of the program's order. InternalError
/// if something gives back more than there is.
std::vector<SegmentMemory> memory_over(const Program& program, std::size_t places);

/// The most of all of them.
ProgramMemory memory_of(const Program& program, std::size_t places);

/// The operations of all chips in a program, with the mean of what not every one has.
struct ProgramWork {
  EnergyRange joules;
  double flop = 0;  // useful
};
ProgramWork work_of(const Program& program);

/// The time of the segments of this name.
double seconds_of(const Program& program, const ProgramResult& run, const char* name);

/// Watts that stand beside the work on chips.
struct StandingWatts {
  EnergyRange waiting;  // a chip that waits
  EnergyRange always;   // of each chip, what is set apart from its work: tiles for transfers
};

/// What a run draws beside the operations on chips: joules of waiting and of what moves.
struct DrawnBeside {
  EnergyRange idle;      // chips that wait, those that are not used with them
  double links = 0;      // links and gateways
  double streaming = 0;  // streaming memory
  double machines = 0;
  double hosts = 0;
};

/// Bytes that are priced by the bit.
struct Carried {
  double links = 0;
  double streaming = 0;
};

/// Of chips that took `ns` each, in any system.
DrawnBeside drawn_beside(const CommonSystemParams& params, const std::vector<TimeStack>& chips,
                         double ns, const Carried& carried, const StandingWatts& watts);
DrawnBeside drawn_beside(const SystemParams& params, const Fabric& fabric, const ProgramResult& run,
                         const StandingWatts& watts);

/// What the system draws while each segment of the program's order is run, operations and all that
/// is beside them, in watts.
std::vector<double> watts_over(const SystemParams& params, const Fabric& fabric,
                               const Program& program, const ProgramResult& run,
                               const StandingWatts& watts);

}  // namespace lacuna::system

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
  EnumArray<Held, std::uint64_t, kHeld> bytes{};

  std::uint64_t of(Held what) const { return bytes[what]; }
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

  /// "needs 12 B and has 10 B: weights 8, code 4".
  std::string text() const;
};

/// A streaming memory: how many chips of each place share it, of all replicas.
using StreamingBank = std::vector<std::uint64_t>;

/// Those of the machines of replicas that follow each other, each `tensor` chips at every one of
/// its places; those that are alike once.
std::vector<StreamingBank> machine_banks(const SystemParams& params, std::size_t places,
                                         unsigned tensor, unsigned replicas = 1);

/// Memories at their fullest.
struct ProgramMemory {
  std::vector<MemoryAccount> chips;  // by phase, and of a phase by place
  MemoryUse streaming;               // of the bank of which most is taken
};

/// Memories at their fullest while each segment of the program's order is run: of a chip at each
/// place, and behind them of each bank. Replays what the entries take and give back; InternalError
/// if something gives back more than there is.
std::vector<std::vector<MemoryUse>> memory_over(const Program& program, std::size_t places,
                                                const std::vector<StreamingBank>& banks = {});

/// The most of all of them, where a chip has room for so many bytes.
ProgramMemory memory_of(const Program& program, std::size_t places, std::uint64_t capacity,
                        const std::vector<StreamingBank>& banks = {});

/// Bytes of the streaming memory of the fullest machine.
struct StreamingAccount {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = 0;

  bool fits() const { return bytes <= capacity; }

  /// "the streaming memory of a machine needs 12 B and has 10 B".
  std::string text() const;
};
StreamingAccount streaming_of(const SystemParams& params, const ProgramMemory& memory);

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

/// A part of the joules of a step.
struct SystemEnergyPart {
  std::string key;   // of the metric, after "energy_"
  std::string text;  // in a table
  EnergyRange joules;
};

/// Joules of a whole system: operations of its chips, which come first, and what is drawn beside
/// them. What is counted or assumed has no range of its own.
struct EnergyAccount {
  std::vector<SystemEnergyPart> parts;

  const EnergyRange& work() const { return parts.front().joules; }
  EnergyRange total() const;
};

/// The account of a step of which a run has `steps`: its operations, what waiting and standing
/// hardware draws, and what moves.
EnergyAccount energy_of(const CommonSystemParams& params, const RunResult& run,
                        const EnergyRange& operations, const StandingWatts& watts,
                        double steps = 1);

/// What the system draws while each segment of the program's order is run, operations and all that
/// is beside them, in watts.
std::vector<double> watts_over(const SystemParams& params, const Program& program,
                               const ProgramResult& run, const StandingWatts& watts);

}  // namespace lacuna::system

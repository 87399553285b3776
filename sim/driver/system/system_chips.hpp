// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/system/ledger.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {

/// True if `name` is a preset of a system, or a file of one.
bool is_system(const std::string& name);

/// The same of systems whose chips are joined by links. Those that share a store of weights are
/// machines (StoreSystem).
bool is_linked_system(const std::string& name);

/// Why `name` is no system, with those that there are.
std::string no_system(const std::string& name);

/// How long a barrier of the tiles of a chip takes.
inline constexpr const char* kBarrierOfTiles = "sync.chip_ns";

/// A system of chips joined by links, and the machine of its chips. Settings may be of either:
/// those of chips begin with "chip.". RequestError if the chips of `name` are joined by a tree.
struct SystemMachine {
  std::string name;
  system::SystemParams params;
  std::vector<std::string> chip_settings;  // "path=value"
  bool own_barrier = false;                // sync.chip_ns is of its chips: said where they are
};
SystemMachine make_system(const std::string& name, const std::vector<std::string>& settings);

/// The chips of a system as machines, some of whose tiles are set apart for transfers.
class SystemChips {
 public:
  /// `word` is the parameter that says how many tiles are set apart.
  SystemChips(const MachineTable& kinds, const Pricing& pricing, const SystemMachine& system,
              unsigned io_tiles, const char* word);

  /// A chip with `path` set to `value`; those that are alike are one.
  const Machine& chip(const std::string& path = "", const std::string& value = "",
                      const char* origin = "") const;

  double number(const char* path) const { return number_of(chip(), path); }
  unsigned tiles() const { return static_cast<unsigned>(number("ipu.tiles")); }  // that work
  std::uint64_t tile_bytes() const;

  /// Bytes of a chip: of all tiles that work, or of all cores beside what the program takes.
  std::uint64_t memory_bytes() const;

  /// So many KiB of each tile that works; of a wafer none, as its memory has them apart.
  std::uint64_t code_bytes(double kib) const;

  /// Of a chip that waits, and of the tiles that are set apart.
  system::StandingWatts watts() const;

 private:
  const MachineTable& kinds_;
  const Pricing& pricing_;
  std::string preset_;
  std::vector<std::string> settings_;
  std::string tiles_;  // that work; empty: all
  const char* word_;
  std::unique_ptr<Machine> whole_;  // with all of its tiles; null: all work
  mutable std::map<std::string, std::unique_ptr<Machine>> made_;
};

/// What came of a step on chips joined by links: all that results say is read off it.
struct StepResult {
  system::Program program;
  system::ProgramResult run;
  std::vector<double> watts;  // of the system, for each of the program's order
  std::vector<system::MemoryAccount> memory;
  system::StreamingAccount streaming;
  EnergyAccount energy;
  double flop = 0;  // useful, of all chips, without what is done again

  double seconds() const { return static_cast<double>(run.ns) * 1e-9; }

  /// The memory of which most is taken.
  const system::MemoryAccount& fullest() const;
};

/// Runs a program on the chips of a system, or on one chip that stands `alone`, and reads all but
/// the memory of `step` off it.
void run_step(const system::SystemParams& params, system::Program program,
              const system::StandingWatts& watts, const system::SystemExecution& execution,
              StepResult& step, bool alone = false);

}  // namespace lacuna

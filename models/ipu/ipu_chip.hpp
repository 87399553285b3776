// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "models/ipu/chip_stats.hpp"
#include "models/ipu/tile.hpp"

namespace lacuna::ipu {

/// An IPU chip: tiles, the exchange between them and their barrier, with a program loaded. Both
/// engines give the same cycles, counters, cycle stack and event log.
class IpuChip : public sc_core::sc_module {
 public:
  /// The program is used, not copied. InternalError if it does not fit the parameters. `interval`
  /// is that of for_each_border(), `marks` the most of each tile in supersteps().
  IpuChip(const sc_core::sc_module_name& name, ClockDomain& clock, const ChipParams& params,
          const Program& program, Engine engine, bool event_log = false, Cycle interval = 0,
          std::size_t marks = 0);
  ~IpuChip() override;

  /// For binding a module of one's own to a tile's ports, before run().
  Tile& tile(TileId id) { return *tiles_.at(id); }

  /// Executes the program and returns the cycles it took. Throws DeadlockError if a port never
  /// becomes ready, InternalError if an account does not close. To be called once.
  Cycle run();

  // of the finished run
  const TileCycleStats& cycle_stats() const { return cycles_; }
  const TileWorkStats& work_stats() const { return work_; }
  const std::vector<SuperstepTimes>& times() const { return context_.times; }
  const CycleAccount& account(TileId id) const { return tiles_.at(id)->account(); }
  const TileTraffic& moved(TileId id) const { return tiles_.at(id)->moved(); }
  bool used(TileId id) const { return tiles_.at(id)->used(); }

  /// What tiles had counted at barriers and ends of exchanges.
  const SuperstepBook& supersteps() const { return marks_; }

  /// Calls `visit` at the end of each interval, the last of which may be shorter, with what had
  /// been counted by then. Products that are never formed count as skipped from the begin on.
  void for_each_border(const std::function<void(Cycle at, const TileCycleStats&,
                                                const TileWorkStats&)>& visit) const;

  const ChipParams& params() const { return params_; }

  /// What each vertex costs, of all that the run asked for; others are found when asked for.
  VertexCosts& costs() { return costs_; }

  /// The issues of each kind of bundle.
  const std::vector<std::uint64_t>& issues() const { return issues_; }

  /// Sorted. Units are tiles, and after the last tile the chip.
  std::vector<Event> events() const { return log_.sorted(); }

  /// What is in a tile's memory; only with values.
  const TileMemory& memory(TileId id) const { return memories_.at(id); }

 private:
  void load_images();
  void check_ports() const;
  void account_all(Cycle end);
  void count_exchange();
  void count_items();
  void record_supersteps();

  const ChipParams params_;
  const Program& program_;
  ClockDomain& clock_;
  EventLog log_;
  std::vector<TileMemory> memories_;
  SyncUnit sync_;
  ExchangeFabric fabric_;
  VertexCosts costs_;
  IntervalBook book_;
  SuperstepBook marks_;
  ChipContext context_;
  std::vector<std::unique_ptr<Tile>> tiles_;
  std::vector<std::uint64_t> issues_;
  Cycle end_ = 0;
  TileCycleStats cycles_{"tile.cycles"};
  TileWorkStats work_{"tile"};
};

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ipu/chip_bench.hpp"

#include <memory>
#include <utility>

#include "sim/kernel/sim_context.hpp"
#include "tests/support/stubs.hpp"

namespace lacuna::ipu {
namespace {

using Word = std::uint32_t;

/// How many words a tile moves through its port in the whole program.
std::uint64_t port_words(const Program& program, TileId tile, WorkItem::Kind kind) {
  std::uint64_t words = 0;
  for (const Superstep& superstep : program.supersteps) {
    if (superstep.compute == kNone) continue;
    const ComputeSet& set = program.computes[superstep.compute];
    for (std::uint32_t i = set.first[tile]; i < set.first[tile + 1]; ++i) {
      if (set.items[i].kind == kind) words += set.items[i].words;
    }
  }
  return words;
}

/// The modules at the ports, and the channels to them.
class Surroundings {
 public:
  Surroundings(const Scenario& scenario, ClockDomain& clock, IpuChip& chip) {
    for (TileId id = 0; id < scenario.params.ipu.tiles; ++id) {
      const std::uint64_t seed = scenario.seed + 10 * id;
      const std::uint64_t in = port_words(scenario.program, id, WorkItem::Kind::port_receive);
      if (in > 0) add_feeder(scenario, clock, chip.tile(id), in, seed);
      if (port_words(scenario.program, id, WorkItem::Kind::port_send) > 0) {
        add_collector(scenario, clock, chip.tile(id), seed + 5);
      }
    }
  }

  std::map<TileId, lacuna::test::EventLog<Word>> logs() const {
    std::map<TileId, lacuna::test::EventLog<Word>> logs;
    for (const auto& [id, collector] : collectors_) logs[id] = collector->log();
    return logs;
  }

 private:
  void add_feeder(const Scenario& scenario, ClockDomain& clock, Tile& tile, std::uint64_t words,
                  std::uint64_t seed) {
    std::vector<Word> tokens;
    for (std::uint64_t i = 0; i < words; ++i) tokens.push_back(static_cast<Word>(mix(seed + i)));
    channels_.push_back(std::make_unique<Channel<Word>>(clock, 2));
    channels_.back()->jitter(scenario.jitter, seed + 1);
    feeders_.push_back(std::make_unique<lacuna::test::Feeder<Word>>(
        ("feeder_" + std::to_string(tile.id())).c_str(), std::move(tokens),
        lacuna::test::Staller(scenario.stalls, seed + 2)));
    feeders_.back()->out.bind(*channels_.back());
    tile.in.bind(*channels_.back());
    clock.add(*feeders_.back());
  }

  void add_collector(const Scenario& scenario, ClockDomain& clock, Tile& tile, std::uint64_t seed) {
    channels_.push_back(std::make_unique<Channel<Word>>(clock, 3));
    channels_.back()->jitter(scenario.jitter, seed + 1);
    auto collector = std::make_unique<lacuna::test::Collector<Word>>(
        ("collector_" + std::to_string(tile.id())).c_str(),
        lacuna::test::Staller(scenario.stalls, seed + 2));
    collector->in.bind(*channels_.back());
    tile.out.bind(*channels_.back());
    clock.add(*collector);
    collectors_[tile.id()] = std::move(collector);
  }

  std::vector<std::unique_ptr<Channel<Word>>> channels_;
  std::vector<std::unique_ptr<lacuna::test::Feeder<Word>>> feeders_;
  std::map<TileId, std::unique_ptr<lacuna::test::Collector<Word>>> collectors_;
};

void read_tiles(const Scenario& scenario, const IpuChip& chip, Outcome& outcome) {
  for (TileId id = 0; id < scenario.params.ipu.tiles; ++id) {
    outcome.accounts.emplace_back();
    for (std::size_t s = 0; s < kSpends; ++s) {
      outcome.accounts.back().push_back(chip.account(id)[static_cast<Spend>(s)]);
    }
    if (!scenario.program.values) continue;
    outcome.memories.emplace_back();
    for (std::uint32_t w = 0; w < scenario.program.memory_words; ++w) {
      outcome.memories.back().push_back(chip.memory(id).word(w));
    }
  }
}

}  // namespace

Outcome simulate(const Scenario& scenario, const Execution& execution) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), execution.domain);
  clock.shuffle(execution.order);
  IpuChip chip("chip", clock, scenario.params, scenario.program, execution.tiles,
               execution.event_log, execution.interval);
  const Surroundings surroundings(scenario, clock, chip);
  Outcome outcome;
  outcome.cycles = chip.run();
  outcome.counters = chip.work_stats().snapshot();
  outcome.counters.merge(chip.cycle_stats().snapshot());
  outcome.issues = chip.issues();
  chip.for_each_border([&](Cycle at, const TileCycleStats& cycles, const TileWorkStats& work) {
    outcome.borders.emplace_back(at, work.snapshot());
    outcome.borders.back().second.merge(cycles.snapshot());
  });
  outcome.events = chip.events();
  outcome.ports = surroundings.logs();
  read_tiles(scenario, chip, outcome);
  return outcome;
}

}  // namespace lacuna::ipu

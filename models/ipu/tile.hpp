// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/ipu/chip_stats.hpp"
#include "models/ipu/exchange/fabric.hpp"
#include "models/ipu/interval_book.hpp"
#include "models/ipu/program.hpp"
#include "models/ipu/superstep_book.hpp"
#include "models/ipu/sync_unit.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"
#include "sim/kernel/engine.hpp"

namespace lacuna::ipu {

/// What a chip writes into its event log. Events of one tile in one cycle come in this order.
enum class EventKind : std::uint16_t {
  vertex_start,   // argument: the vertex
  worker_launch,  // the worker
  worker_exit,    // the worker, in the cycle of its last bundle
  vertex_end,     // the vertex, in its last cycle
  send_first,     // the number of words, in the cycle of the first
  send_last,
  receive_first,  // the source tile
  receive_last,
  port_send,        // the word's number
  port_receive,     // likewise
  sync_arrive,      // the superstep
  sync_release,     // of the chip: the superstep
  superstep_start,  // of the chip
  exchange_end,     // of the chip: the superstep, in the first cycle after it
};

/// The word of each EventKind, by number.
const std::vector<std::string>& event_kind_names();

/// When a superstep's parts happened, over all tiles.
struct SuperstepTimes {
  Cycle begin = kNever;     // the first tile begins
  Cycle computed = 0;       // the last tile has finished its items
  Cycle released = kNever;  // the exchange begins; kNever if there is none
  Cycle end = 0;
};

/// The cost of each vertex of a program, found when it is first asked for.
class VertexCosts {
 public:
  explicit VertexCosts(const Program& program);

  const VertexCost& cost(std::uint32_t vertex);

  /// The issues of one execution of `vertex`, whose cost is known, by bundle.
  const std::uint64_t* issues(std::uint32_t vertex) const {
    return issues_.data() + vertex * program_.bundles.size();
  }

  /// Adds one execution of `vertex` to the issues.
  void execute(std::uint32_t vertex) { ++executions_[vertex]; }

  /// Adds the issues of all executions to `issues`, by bundle.
  void add_issues(std::vector<std::uint64_t>& issues) const;

 private:
  const Program& program_;
  std::vector<VertexCost> costs_;
  std::vector<std::uint8_t> known_;
  std::vector<std::uint64_t> executions_;
  std::vector<std::uint64_t> issues_;  // by vertex, then by bundle
};

/// What the tiles of a chip have in common. Anything a tile changes here is a count, a minimum or
/// a maximum, so that the order of stepping cannot be seen.
struct ChipContext {
  const ChipParams& params;
  const Program& program;
  ClockDomain& clock;
  SyncUnit& sync;
  ExchangeFabric& fabric;
  EventLog& log;
  std::vector<TileMemory>& memories;  // empty without values
  VertexCosts& costs;
  IntervalBook& book;
  SuperstepBook& marks;
  std::vector<SuperstepTimes> times;
  std::uint64_t port_sent = 0;
  std::uint64_t port_received = 0;
  std::size_t carried = 0;     // exchange phases whose words have been moved at once
  std::vector<Cycle> means;    // by superstep, if without.slowest: of all up to its barrier
  std::size_t unfinished = 0;  // tiles
  Cycle end = 0;               // the first cycle in which all finished tiles have finished
};

/// A tile: a supervisor and its workers, memory, an exchange port and a port of its own for a
/// module of the user. It executes its part of the program, from cycle 0 to the end.
class Tile : public sc_core::sc_module, public Clocked {
 public:
  Tile(const sc_core::sc_module_name& name, TileId id, ChipContext& chip);

  /// Where port_send items push words and port_receive items pop them; may stay unbound.
  sc_core::sc_port<PushIf<std::uint32_t>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> out{"out"};
  sc_core::sc_port<PopIf<std::uint32_t>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> in{"in"};

  TileId id() const { return id_; }

  /// True if the program gives it anything to do.
  bool used() const { return used_; }

  const CycleAccount& account() const { return account_; }

  /// The words it has sent and received so far.
  const TileTraffic& moved() const { return moved_; }

  /// Books what remains when the chip has finished in cycle `end`.
  void settle(Cycle end);

  /// Puts what is not in the book yet into it, if there is one.
  virtual void book_rest() {}

  /// Adds the bundles it issued and counted itself.
  virtual void add_issues(std::vector<std::uint64_t>& /*issues*/) const {}

  std::string blocked() const override;

 protected:
  enum class Mode : std::uint8_t { start, launch, vertex, port, barrier, exchange, done };

  const Superstep& superstep() const { return chip_.program.supersteps[superstep_]; }
  const ExchangePlan& plan() const { return chip_.program.exchanges[superstep().exchange].plan; }
  const TileTraffic& traffic() const { return plan().traffic[id_]; }
  const WorkItem& item() const { return *item_; }
  bool values() const { return !chip_.memories.empty(); }
  TileMemory& memory() { return chip_.memories[id_]; }

  void record(Cycle cycle, EventKind kind, std::uint64_t argument) {
    chip_.log.record(cycle, id_, static_cast<std::uint16_t>(kind), argument);
  }

  /// Spends the cycles [from, to).
  void spend(Spend spend, Cycle from, Cycle to) {
    account_[spend] += to - from;
    if (chip_.book.enabled()) chip_.book.spend(spend, from, to);
  }

  /// Begins superstep `superstep_` in cycle `at`; true if the tile has items in it.
  bool begin_superstep(Cycle at);

  /// Ends the items of the superstep in cycle `at`: arrives at the barrier, or goes on to the next
  /// superstep. True if there is a next one to begin in cycle `at`.
  bool end_compute(Cycle at);

  /// The barrier releases the tile in cycle `now`.
  void pass_barrier(Cycle now);

  /// The words of the exchange at hand are moved, all at once.
  void move_all();

  /// An exchange that takes no time begins in cycle `now`. True if there is a superstep to begin.
  bool exchange_at_once(Cycle now);

  /// The cycle in which all tiles end what they do between two barriers, if they take the mean
  /// time of all; else kNever.
  Cycle mean_end() const {
    return chip_.means.empty() || mode_ == Mode::done ? kNever : segment_ + chip_.means[superstep_];
  }

  /// Ends the exchange in cycle `at`. True if there is a superstep to begin.
  bool end_exchange(Cycle at);

  void start_vertex(Cycle at) { record(at, EventKind::vertex_start, item_->index); }

  /// The vertex has taken the cycles up to `at`, exclusively.
  void end_vertex(Cycle begin, Cycle at);

  /// Tries to move the next word through the port; true if it could.
  bool move_port_word(Cycle now);

  ChipContext& chip_;
  const TileId id_;
  const bool used_;
  Mode mode_ = Mode::start;
  std::uint32_t superstep_ = 0;
  const WorkItem* item_ = nullptr;
  const WorkItem* items_end_ = nullptr;
  std::uint32_t moved_words_ = 0;  // through the port, of the present item
  Cycle arrived_ = 0;              // at the barrier, or at the end
  Cycle segment_ = 0;              // the end of the exchange before
  Cycle over_ = 0;                 // clocks since then that were not waited for (without.slowest)
  CycleAccount account_;
  TileTraffic moved_;

 private:
  bool go_on(Cycle at);
  Cycle end_in_mean_time(Cycle at);

  std::size_t carried_ = 0;  // exchange phases that it has moved all words of
};

/// True if the program gives `tile` anything to do.
bool uses_tile(const Program& program, TileId tile);

/// Engine::clocked issues bundle by bundle and moves word by word; Engine::event sums them.
std::unique_ptr<Tile> make_tile(Engine engine, const char* name, TileId id, ChipContext& chip);

// the bodies of make_tile
std::unique_ptr<Tile> make_clocked_tile(const char* name, TileId id, ChipContext& chip);
std::unique_ptr<Tile> make_event_tile(const char* name, TileId id, ChipContext& chip);

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "models/ipu/code_cursor.hpp"
#include "models/ipu/tile.hpp"
#include "models/ipu/worker_pipeline.hpp"

namespace lacuna::ipu {
namespace {

/// Acts when a barrier releases it: it sums the exchange and the items after it, and arrives at
/// the next barrier ahead of time. Only the words of its own port are moved one by one.
class EventTile final : public Tile {
 public:
  using Tile::Tile;

  Cycle step(Cycle now) override {
    switch (mode_) {
      case Mode::start: {
        const Cycle due = enter(now);
        return due == now ? port_cycle(now) : due;
      }
      case Mode::port:
        return port_cycle(now);
      case Mode::barrier:
        return now < chip_.sync.release(superstep_) ? kNever : exchange(now);
      case Mode::launch:  // an exchange, what follows and its vertices are one step
      case Mode::vertex:
      case Mode::exchange:
      case Mode::done:
        break;
    }
    return kNever;
  }

  /// Whatever passes while it sleeps is booked when it is known.
  void skip(Cycle /*from*/, Cycle /*to*/) override {}

 private:
  Cycle enter(Cycle at) {
    at_ = at;
    do {
      if (!begin_superstep(at_)) continue;
      spend(Spend::supervisor, at_, at_ + chip_.params.tile.launch);
      at_ += chip_.params.tile.launch;
      if (execute_items()) return at_;
    } while (end_compute(at_));
    return kNever;
  }

  /// Executes items from cycle at_ on; true if it has come to one that moves words by its port.
  bool execute_items() {
    for (; item_ != items_end_; ++item_) {
      if (item_->kind == WorkItem::Kind::vertex) {
        execute_vertex();
      } else if (item_->words > 0) {
        moved_words_ = 0;
        mode_ = Mode::port;
        break;
      }
    }
    if (at_ > 0) chip_.clock.moved(at_ - 1);
    return item_ != items_end_;
  }

  void execute_vertex() {
    const VertexCost& cost = chip_.costs.cost(item_->index);
    chip_.costs.execute(item_->index);
    start_vertex(at_);
    if (chip_.log.enabled()) record_workers();
    account_[Spend::worker] += cost.worker;
    account_[Spend::supervisor] += cost.supervisor;
    account_[Spend::slot] += cost.slot;
    account_[Spend::conflict] += cost.conflict;
    if (chip_.book.enabled()) {
      chip_.book.vertex(item_->index, at_, cost, chip_.costs.issues(item_->index));
    }
    const Cycle begin = at_;
    at_ += cost.cycles;
    end_vertex(begin, at_);
  }

  /// Walks through the supervisor's code for the cycles in which workers start and exit.
  void record_workers() {
    const Vertex& vertex = chip_.program.vertices[item_->index];
    const WorkerPipeline pipeline(chip_.program.set_size);
    std::vector<std::pair<Cycle, std::uint32_t>> exits;
    CodeCursor cursor;
    cursor.start(chip_.program, vertex.supervisor);
    for (Cycle at = at_; cursor.next();) {
      if (!cursor.is_run()) {
        at += cursor.count() * (1 + conflicts_of(chip_.program, cursor.bundle()));
        continue;
      }
      exits.clear();
      std::uint64_t longest = 0;
      std::uint64_t shortest = kNever;
      for (std::uint32_t w = 0; w < pipeline.slots(); ++w) {
        const std::uint64_t used =
            worker_slots(chip_.program, worker_of(chip_.program, vertex, cursor.set(), w));
        longest = std::max(longest, used);
        shortest = std::min(shortest, used);
        if (used == 0) continue;
        record(at, EventKind::worker_launch, w);
        exits.emplace_back(at + pipeline.exit(w, used), w);
      }
      std::sort(exits.begin(), exits.end());
      for (const auto& [cycle, worker] : exits) record(cycle, EventKind::worker_exit, worker);
      at += pipeline.set(longest, shortest, cursor.ahead());
    }
  }

  Cycle port_cycle(Cycle now) {
    if (now < at_) return at_;
    if (!move_port_word(now)) return kNever;  // the channel wakes us
    spend(Spend::port_wait, at_, now);
    at_ = now + 1;
    if (moved_words_ < item_->words) return at_;
    ++item_;
    if (execute_items()) return at_;
    return end_compute(at_) ? enter(at_) : kNever;
  }

  Cycle exchange(Cycle now) {
    pass_barrier(now);
    if (chip_.params.without.exchange) return exchange_at_once(now) ? enter(now) : kNever;
    mode_ = Mode::exchange;
    const TileTraffic& mine = traffic();
    account_[Spend::exchange] += mine.busy;
    account_[Spend::exchange_gap] += mine.end - mine.busy;
    account_[Spend::exchange_tail] += plan().length - mine.end;
    move_all();
    if (chip_.book.enabled()) chip_.book.exchange(plan(), id_, now);
    if (chip_.log.enabled()) record_exchange(now);
    const Cycle end = now + plan().length;
    chip_.clock.moved(end - 1);
    return end_exchange(end) ? enter(end) : kNever;
  }

  void record_exchange(Cycle now) {
    std::vector<std::tuple<Cycle, EventKind, std::uint64_t>> events;
    for (std::uint32_t i = plan().send_first[id_]; i < plan().send_first[id_ + 1]; ++i) {
      const Send& send = plan().sends[i];
      events.emplace_back(now + send.start, EventKind::send_first, send.words);
      events.emplace_back(now + send.start + send.cycles() - 1, EventKind::send_last, send.words);
    }
    for (std::uint32_t i = plan().receive_first[id_]; i < plan().receive_first[id_ + 1]; ++i) {
      const Receive& receive = plan().receives[i];
      const Cycle last = now + receive.start + receive.cycles() - 1;
      events.emplace_back(now + receive.start, EventKind::receive_first, receive.source);
      events.emplace_back(last, EventKind::receive_last, receive.source);
    }
    std::sort(events.begin(), events.end());
    for (const auto& [cycle, kind, argument] : events) record(cycle, kind, argument);
  }

  Cycle at_ = 0;  // up to which everything is booked
};

}  // namespace

std::unique_ptr<Tile> make_event_tile(const char* name, TileId id, ChipContext& chip) {
  return std::make_unique<EventTile>(name, id, chip);
}

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "models/ipu/exchange_port.hpp"
#include "models/ipu/tile.hpp"
#include "models/ipu/vertex_walk.hpp"
#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

/// What a ClockedTile spends one cycle at a time; the others are spent when their cause is known.
constexpr std::array<Spend, 7> kByCycle{Spend::worker,       Spend::supervisor, Spend::slot,
                                        Spend::conflict,     Spend::exchange,   Spend::exchange_gap,
                                        Spend::exchange_tail};

/// Executes one clock at a time: one issue slot, one word out, one word in.
class ClockedTile final : public Tile {
 public:
  ClockedTile(const sc_core::sc_module_name& name, TileId id, ChipContext& chip)
      : Tile(name, id, chip),
        walk_(chip.program.set_size),
        issues_(used() ? chip.program.bundles.size() : 0, 0),
        border_(chip.book.enabled() ? chip.book.length() : kNever),
        exchange_(id, chip.params.tile.memory, chip.fabric, moved_) {}

  Cycle step(Cycle now) override {
    if (now == border_) turn_page();
    if (mode_ == Mode::start) enter(now);
    if (mode_ == Mode::barrier && now >= chip_.sync.release(superstep_)) start_exchange(now);
    mode_ == Mode::vertex ? vertex_cycle(now) : cycle(now);
    while (now + 1 == mean_end() && (mode_ == Mode::vertex || mode_ == Mode::launch)) {
      ++over_;  // what is left does not wait for its clocks
      cycle(now);
    }
    return now + 1;
  }

  void add_issues(std::vector<std::uint64_t>& issues) const override {
    for (std::size_t b = 0; b < issues_.size(); ++b) issues[b] += issues_[b];
  }

  void book_rest() override {
    if (border_ != kNever) turn_page();
  }

 private:
  void cycle(Cycle now) {
    switch (mode_) {
      case Mode::vertex:
        vertex_cycle(now);
        break;
      case Mode::exchange:
        exchange_cycle(now);
        break;
      case Mode::launch:
        launch_cycle(now);
        break;
      case Mode::port:
        port_cycle(now);
        break;
      case Mode::start:
      case Mode::barrier:
      case Mode::done:
        break;
    }
  }

  /// Books what was counted cycle by cycle since the page before.
  void turn_page() {
    IntervalBook::Page& page = chip_.book.page(border_ - 1);
    booked_issues_.resize(issues_.size());
    for (std::size_t b = 0; b < issues_.size(); ++b)
      page.issues[b] += issues_[b] - booked_issues_[b];
    for (const Spend spend : kByCycle) page.spent[spend] += account_[spend] - booked_[spend];
    page.moved.sent += moved_.sent - booked_moved_.sent;
    page.moved.received += moved_.received - booked_moved_.received;
    page.moved.fragments += moved_.fragments - booked_moved_.fragments;
    page.moved.conflicts += moved_.conflicts - booked_moved_.conflicts;
    booked_issues_ = issues_;
    booked_ = account_;
    booked_moved_ = moved_;
    border_ += chip_.book.length();
  }

  /// Begins superstep after superstep in cycle `at`, until one takes time or waits.
  void enter(Cycle at) {
    do {
      if (!begin_superstep(at)) continue;
      mode_ = Mode::launch;
      left_ = chip_.params.tile.launch;
      if (left_ > 0 || start_items(at)) return;
    } while (end_compute(at));
  }

  void launch_cycle(Cycle now) {
    ++account_[Spend::supervisor];
    chip_.clock.moved(now);
    if (--left_ == 0) begin_items(now + 1);
  }

  void begin_items(Cycle at) {
    if (!start_items(at) && end_compute(at)) enter(at);
  }

  /// Starts the item at hand or, if it takes no time, the next; false if no item is left.
  bool start_items(Cycle at) {
    for (; item_ != items_end_; ++item_) {
      if (item_->kind != WorkItem::Kind::vertex) {
        moved_words_ = 0;
        mode_ = Mode::port;
        if (item_->words > 0) return true;
        continue;
      }
      start_vertex(at);
      begin_ = at;
      mode_ = Mode::vertex;
      const Vertex& vertex = chip_.program.vertices[item_->index];
      if (walk_.start(chip_.program, vertex, issues_.data(), [&] { record_launch(at); }))
        return true;
      end_vertex(at, at);
    }
    return false;
  }

  void record_launch(Cycle at) {
    if (!chip_.log.enabled()) return;
    for (std::uint32_t w = 0; w < chip_.program.set_size; ++w) {
      if (walk_.live(w)) record(at, EventKind::worker_launch, w);
    }
  }

  void vertex_cycle(Cycle now) {
    chip_.clock.moved(now);
    account_[walk_.step(issues_.data())] += 1;
    if (walk_.exited() != kNone) record(now, EventKind::worker_exit, walk_.exited());
    if (walk_.go_on([&] { record_launch(now + 1); })) return;
    end_vertex(begin_, now + 1);
    ++item_;
    begin_items(now + 1);
  }

  void port_cycle(Cycle now) {
    if (!move_port_word(now)) {
      spend(Spend::port_wait, now, now + 1);
      return;
    }
    if (moved_words_ < item_->words) return;
    ++item_;
    begin_items(now + 1);
  }

  void start_exchange(Cycle now) {
    pass_barrier(now);
    if (chip_.params.without.exchange) {
      if (exchange_at_once(now)) enter(now);
      return;
    }
    mode_ = Mode::exchange;
    begin_ = now;
    length_ = plan().length;
    exchange_.begin(plan(), values() ? &memory() : nullptr);
  }

  void exchange_cycle(Cycle now) {
    chip_.clock.moved(now);
    const Cycle t = now - begin_;
    const bool over = exchange_.over();
    const bool moved = exchange_.step(
        now, t, [&](const auto& instruction) { record_first(now, instruction); },
        [&](const auto& instruction) { record_last(now, instruction); });
    const Spend waiting = over ? Spend::exchange_tail : Spend::exchange_gap;
    account_[moved ? Spend::exchange : waiting] += 1;
    if (t + 1 == length_) finish_exchange(now + 1);
  }

  void finish_exchange(Cycle at) {
    if (!exchange_.over()) {
      throw InternalError(fmt::format("tile {} has words to move after the exchange ended", id_));
    }
    if (end_exchange(at)) enter(at);
  }

  void record_first(Cycle now, const Send& send) { record(now, EventKind::send_first, send.words); }
  void record_first(Cycle now, const Receive& receive) {
    record(now, EventKind::receive_first, receive.source);
  }
  void record_last(Cycle now, const Send& send) { record(now, EventKind::send_last, send.words); }
  void record_last(Cycle now, const Receive& receive) {
    record(now, EventKind::receive_last, receive.source);
  }

  VertexWalk walk_;
  std::vector<std::uint64_t> issues_;  // by bundle
  std::uint64_t left_ = 0;             // clocks of the launch
  Cycle border_;                       // of the present page, if there is a book
  std::vector<std::uint64_t> booked_issues_;
  CycleAccount booked_;
  TileTraffic booked_moved_;
  Cycle begin_ = 0;   // of the vertex or the exchange
  Cycle length_ = 0;  // of the exchange
  ExchangePort exchange_;
};

}  // namespace

std::unique_ptr<Tile> make_clocked_tile(const char* name, TileId id, ChipContext& chip) {
  return std::make_unique<ClockedTile>(name, id, chip);
}

}  // namespace lacuna::ipu

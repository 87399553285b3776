// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/resident/rows_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/wse/edge/lane_injectors.hpp"
#include "models/wse/engine/routed_sums.hpp"
#include "models/wse/engine/streaming_outcome.hpp"
#include "models/wse/engine/streaming_row.hpp"
#include "models/wse/engine/streaming_sweep.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {
namespace {

/// So many cycles a row is ahead of the next at most, whose copies are kept for it.
constexpr Cycle kMostAhead = 4096;

/// All rows. A row's cycle t is a hop after the same of the row before it; to perform it, it needs
/// the copies that this one sends in its own cycle t, and of the row behind what it had room for
/// after its cycle t - 1.
template <class Number, class Sums>
class RowsAhead {
 public:
  RowsAhead(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        shared_(program),
        injectors_(params.router, program),
        known_(params, program),
        hop_(QueueShapes(params.router).link().latency),
        room_(whole_blocks<Number>(program.columns), -1),
        places_(program.rows) {
    outcome_.cores.resize(std::size_t{program.rows} * program.columns);
    outcome_.routers.resize(outcome_.cores.size());
    for (Place& place : places_) place.under_way.assign(room_.size(), 0);
  }

  WaferOutcome run() {
    for (std::size_t first = 0; first != places_.size();) {
      bool moved = false;
      for (std::size_t r = first; r < places_.size(); ++r) {
        if (r != 0 && places_[r - 1].now == 0) break;  // nothing is known of the rows behind
        moved = advance(r) || moved;
      }
      while (first != places_.size() && places_[first].over) ++first;
      if (!moved || stuck_) {
        throw DeadlockError(
            injectors_.deadlock(last_move_, places_.size() - first, places_.size()));
      }
    }
    for (CoreCounters& core : outcome_.cores) core.cycles[kDone] = outcome_.cycles - core.end;
    outcome_.injectors = injectors_.counters(outcome_.cycles);
    return std::move(outcome_);
  }

 private:
  using Row = StreamingRow<Number, Sums>;
  using Vector = Lanes<Number>;
  static constexpr std::size_t kWidth = Row::kWidth;

  /// Words that come to a row in a cycle.
  struct Copies {
    Cycle at = 0;
    std::size_t block = 0;
    Vector lanes{};
  };
  struct Place {
    std::unique_ptr<Row> row;
    Cycle now = 0;  // the next cycle it performs
    bool over = false;
    bool arrived = false;  // what comes in this cycle is there
    std::deque<Copies> coming;
    std::vector<Number> under_way;  // by lane: words of `coming` that it has not stepped with
  };

  bool advance(std::size_t r);
  bool knows_room(std::size_t r);
  void arrive(Place& place);
  void step(std::size_t r);
  void send_on(const Place& from, Place& to);
  void finish(std::size_t r);

  const HardwareParams params_;
  const Program& program_;
  const SumStreams shared_;
  LaneInjectors<Number> injectors_;
  const StreamingOutcome known_;
  const Cycle hop_;
  std::vector<Number> room_;  // of the row behind the one that is stepped
  std::vector<Place> places_;
  Cycle last_move_ = 0;
  bool stuck_ = false;
  WaferOutcome outcome_;
};

/// Performs the cycles of a row that can be performed; false if none can.
template <class Number, class Sums>
bool RowsAhead<Number, Sums>::advance(std::size_t r) {
  Place& place = places_[r];
  if (place.over) return false;
  if (place.row == nullptr) {
    const auto row = static_cast<std::uint32_t>(r);
    place.row = std::make_unique<Row>(params_, shared_, program_.kernel.tokens[r], row);
  }
  const Cycle before = place.now;
  const bool last = r + 1 == places_.size();
  while (true) {
    if (place.row->finished() && place.row->passed_all()) {
      finish(r);
      return true;
    }
    const Place* const above = r == 0 ? nullptr : &places_[r - 1];
    if (above != nullptr && !above->over && above->now <= place.now) break;
    if (!last && place.now > places_[r + 1].now + kMostAhead) break;
    arrive(place);
    if (!last && !knows_room(r)) break;
    step(r);
    if (stuck_) break;
  }
  return place.now != before;
}

template <class Number, class Sums>
void RowsAhead<Number, Sums>::arrive(Place& place) {
  if (place.arrived) return;
  place.arrived = true;
  for (const Copies& copies : place.coming) {
    if (copies.at != place.now) break;
    place.row->arrive(copies.block, copies.lanes);
  }
}

/// Whether it is known which copies the row behind takes in this cycle. It has room for those that
/// it had room for when it was seen last, less what is under way to it since; once it has performed
/// the cycle before, for no others.
template <class Number, class Sums>
bool RowsAhead<Number, Sums>::knows_room(std::size_t r) {
  const Place& place = places_[r];
  const Place& behind = places_[r + 1];
  const bool exact = behind.now == place.now;
  bool known = true;
  for (std::size_t i = 0; i < place.row->blocks(); ++i) {
    const Vector more = load(&behind.under_way[i * kWidth]);
    const Vector room =
        behind.row == nullptr ? more < Row::capacity(params_) : behind.row->has_room(i, more);
    known = known && (exact || !any(place.row->wants(i) & ~room));
    store(&room_[i * kWidth], room);
  }
  return known;
}

template <class Number, class Sums>
void RowsAhead<Number, Sums>::send_on(const Place& from, Place& to) {
  for (std::size_t i = 0; i < from.row->blocks(); ++i) {
    const Vector copied = load(&from.row->copied()[i * kWidth]);
    if (!any(copied)) continue;
    to.coming.push_back({from.now, i, copied});
    Number* const lanes = &to.under_way[i * kWidth];
    store(lanes, load(lanes) - copied);
  }
}

template <class Number, class Sums>
void RowsAhead<Number, Sums>::step(std::size_t r) {
  Place& place = places_[r];
  Row& row = *place.row;
  const bool last = r + 1 == places_.size();
  if (last) std::fill(room_.begin(), room_.end(), Number{-1});
  row.step(place.now, {&room_, nullptr, last});
  place.arrived = false;
  bool moved = row.moved();
  for (; !place.coming.empty() && place.coming.front().at == place.now; place.coming.pop_front()) {
    const Copies& came = place.coming.front();
    Number* const lanes = &place.under_way[came.block * kWidth];
    store(lanes, load(lanes) + came.lanes);
    moved = true;
  }
  if (!last) send_on(place, places_[r + 1]);
  if (r == 0) {
    row.arrive(injectors_.step(place.now, row.open()));
    moved = moved || injectors_.moved();
  }
  if (moved) last_move_ = std::max(last_move_, place.now);
  ++place.now;
  if (place.now > last_move_ + ClockDomain::kWatchdog) stuck_ = true;
}

/// The row keeps its own time, which is so many hops behind that of the first.
template <class Number, class Sums>
void RowsAhead<Number, Sums>::finish(std::size_t r) {
  Place& place = places_[r];
  Row& row = *place.row;
  const Cycle behind = r * hop_;
  const auto number = static_cast<std::uint32_t>(r);
  const std::size_t first = r * program_.columns;
  const std::vector<LaneCounts>& counts = row.counts();
  for (std::uint32_t c = 0; c < program_.columns; ++c) {
    CoreCounters& core = outcome_.cores[first + c];
    core = known_.core(c, counts[c], number, behind);
    outcome_.cycles = std::max(outcome_.cycles, core.end);
  }
  RouterCounters* const routers = &outcome_.routers[first];
  known_.add_routers(number, counts, routers);
  row.add_stalls(program_, routers);
  if (row.end() != 0) routers->end = row.end() + behind;
  outcome_.cycles = std::max(outcome_.cycles, routers->end);
  place.over = true;
  place.row.reset();
  place.coming.clear();
}

template <class Number>
WaferOutcome run(const HardwareParams& params, const Program& program) {
  if (program.kernel.exchange.on()) {
    return RowsAhead<Number, RoutedSums<Number, true>>(params, program).run();
  }
  return RowsAhead<Number, RoutedSums<Number, false>>(params, program).run();
}

}  // namespace

bool can_run_ahead(const HardwareParams& params, const Program& program) {
  return lanes_can_stream(params, program) && !program.kernel.held.empty() && program.entry == 0 &&
         program.kernel.activations.empty() && program.spread_rows == 0 &&
         lane_bits(params, program) != 0;
}

std::optional<WaferOutcome> simulate_rows_ahead(const HardwareParams& params,
                                                const Program& program, const RunOptions& options) {
  const bool plain = options.engine == Engine::event && options.jitter == 0 &&
                     options.shuffle == 0 && !options.event_log && !options.modules &&
                     !options.look;
  if (!plain || !can_run_ahead(params, program)) return std::nullopt;
  switch (lane_bits(params, program)) {
    case 8:
      return run<std::int8_t>(params, program);
    case 16:
      return run<std::int16_t>(params, program);
    default:
      return std::nullopt;
  }
}

}  // namespace lacuna::wse

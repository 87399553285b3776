// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/wse/engine/gradient_rings.hpp"
#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/gradient_control.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// The buffers through which a row of routers gets words from the north: indices, and the chain.
template <class Number>
struct GradientEntry {
  using Vector = Lanes<Number>;
  LaneBuffer<Number> indices, chain;  // indices and commands; dot products
  Vector freed{}, chain_freed{};      // in this cycle
};

/// One row of a weight gradient, all columns at once: the state of GradientCores and RouterArray
/// as small integers in lanes. It does in one pass what those do unit by unit, in the same cycles.
/// Rows are stepped from south to north, so that a row finds in the buffers of the row below what
/// it had before the cycle: `freed` slots are not free yet, and words pushed are not seen.
template <class Number>
class GradientRow {
 public:
  GradientRow(const GradientLanes& shared, std::uint32_t row);

  /// Performs a cycle. `below` are the buffers of the row below, or those at the edge.
  void step(Cycle now, std::vector<GradientEntry<Number>>& below);

  std::vector<GradientEntry<Number>>& entries() { return entries_; }

  /// From now on the row leaves the chain out: it ends when that could begin in all lanes.
  void leave_out_chain();
  /// Performs a cycle of a row without chain, below which copies of indices can go in the lanes of
  /// `south_open` (-1), or in all if it is null.
  void step(Cycle now, const std::vector<Number>* south_open);
  /// True if a copy would meet a closed link in the cycle to be performed next.
  bool meets_closed(const std::vector<Number>& south_open) const;
  /// The last of the rows below that have repeated this one so far, a hop later each.
  GradientRow follower() const;
  /// The lanes from which a copy went to the south in this cycle.
  const std::vector<Number>& copied() const { return copied_; }
  /// The lanes in which the row above can send a copy in its next cycle.
  const std::vector<Number>& north_open() const { return north_open_; }
  /// The lanes whose chain could begin so far, in time.
  const std::vector<std::uint32_t>& ready() const { return ready_; }
  /// False if indices were on their way south when the chain could begin.
  bool copied_in_time() const { return copied_in_time_; }

  /// The lanes that can take a word from the injector in the cycle just performed: -1 or 0.
  const std::vector<Number>& open() const { return open_; }
  /// Adds a word from the injectors to the buffers of the lanes that are -1 in `lanes`.
  void arrive(const std::vector<Number>& lanes);

  /// True if a beat was issued in the cycle just performed.
  bool moved() const { return moved_; }
  bool finished() const { return finished_ == columns_; }
  const std::vector<GradientLaneCounts>& counts();

  static constexpr unsigned kWidth = LanesOf<Number>::kCount;
  static constexpr Number kMost = std::numeric_limits<Number>::max();

 private:
  using Vector = Lanes<Number>;
  using Entry = GradientEntry<Number>;

  /// The state of kWidth neighbouring lanes. Flags are -1 or 0. Rows of dY are counted from the
  /// first that still needs its vector: those taken, closed and sent.
  struct Block {
    LaneCopies<Number, 2> copies;  // of the head of the indices: south, and to the core
    LanePort<Number> ramp, south;
    LaneLink<Number> south_link;
    LaneTurn<Number> queues;                 // on the ramp up
    LaneQueue<Number> indices, ring, chain;  // the core's input queues
    LaneBuffer<Number> chain_up;             // the router's buffer of the chain from the core
    LaneOutput<Number> ring_queue, chain_queue;
    GradientState<Number> core;
    Vector pop_left{};  // indices of the row that is being taken
    Vector leaving{};   // a bit for each of the last cycles: its index left; bit 0 is the oldest
    Vector ring_room{}, chain_room{};  // of the output queues, before the cycle
    GradientWaits<Number> waited;      // cycles
    Vector in_use{};
    Vector closures{};
  };

  static Vector all(std::uint64_t number) { return all_lanes<Number>(number); }
  void place_columns();
  void step_block(std::size_t index, Cycle now, Entry& below);
  void shift(std::size_t index, Entry& entry);
  void ramp_port(std::size_t index, Entry& entry, Vector& to_ramp);
  void south_port(Block& b, Entry& entry, Entry& below, const Vector& to_ramp, std::size_t first);
  void send_output(std::size_t index, const Vector& chain_room);
  void look_up_take(GradientState<Number>& core, unsigned i, std::size_t lane);
  void look_up_sent(GradientState<Number>& core, unsigned i, std::size_t lane);
  void release(GradientState<Number>& core, unsigned i, std::size_t lane);
  void end_cycle();
  void show_north(std::size_t index, const Vector& leaving);
  void flush();

  // What GradientControl asks for; a place is a block.
  using Control = GradientControl<Number, GradientRow>;
  friend Control;
  Vector has_word(std::size_t place) const { return blocks_[place].indices.has(); }
  static Vector may_begin(std::size_t /*place*/) { return ~Vector{}; }
  Vector take_word(std::size_t place, const Vector& lanes);
  static void start(std::size_t /*place*/, const Vector& /*lanes*/) {}
  void advance(GradientState<Number>& core, std::size_t place, const Vector& take,
               const Vector& sent, const Vector& close);
  Vector has_ring(std::size_t place, const Vector& need) const {
    return blocks_[place].ring.has(need);
  }
  Vector ring_room(std::size_t place, const Vector& need) const {
    return need <= blocks_[place].ring_room;
  }
  Vector has_chain(std::size_t place) const {
    return first_row_ ? ~Vector{} : blocks_[place].chain.has();
  }
  Vector chain_room(std::size_t place) const { return blocks_[place].chain_room; }
  Vector ring_left(std::size_t place) const { return ~blocks_[place].ring_queue.has(); }
  void streamed(std::size_t place, const Vector& lanes);
  void move(std::size_t place, const Vector& take, const Vector& take_words, const Vector& send,
            const Vector& send_words, const Vector& chain);
  static void progress(std::size_t /*place*/, const Vector& /*lanes*/) {}
  void ended(std::size_t place, const Vector& lanes);

  const GradientLanes& shared_;
  const StreamingKernel& kernel_;
  std::size_t columns_;
  bool first_row_;
  bool last_row_;
  ArbiterRule rule_;
  bool without_chain_ = false;
  bool copied_in_time_ = true;
  LaneShapes<Number> shapes_;
  const LinkRule link_rule_;
  unsigned hop_;                             // cycles
  Vector index_color_, down_in_, down_out_;  // of the chain, from the north and to the south
  Control control_;
  Cycle now_ = 0;  // the cycle being performed
  Vector entries_most_;
  unsigned unflushed_ = 0;
  unsigned flush_after_ = 1;  // cycles after which a count could overflow
  bool moved_ = false;
  std::size_t finished_ = 0;
  std::vector<Block> blocks_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> ready_;
  std::vector<Number> open_, copied_, north_open_;
  GradientRings<Number> rings_;
  std::vector<std::uint32_t> take_step_, sent_step_, close_step_, released_step_;  // by lane
  std::vector<GradientLaneCounts> counts_;
};

}  // namespace lacuna::wse

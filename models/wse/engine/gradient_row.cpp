// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_row.hpp"

#include <algorithm>
#include <tuple>

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

// The output queues of a core, in the order in which they are asked first.
constexpr unsigned kRingQueue = 0;
constexpr unsigned kChainQueue = 1;

}  // namespace

GradientLanes::GradientLanes(const HardwareParams& hardware, const Program& what)
    : params(hardware), program(what) {
  const StreamingKernel& kernel = program.kernel;
  std::vector<std::uint32_t> lane_of(kernel.ring.size());
  for (std::uint32_t lane = 0; lane < lane_of.size(); ++lane) lane_of[kernel.ring[lane]] = lane;
  for (const std::uint32_t column : kernel.final_column) final_lane.push_back(lane_of[column]);
}

template <class Number>
GradientRow<Number>::GradientRow(const GradientLanes& shared, std::uint32_t row)
    : shared_(shared),
      kernel_(shared.program.kernel),
      columns_(kernel_.ring.size()),
      first_row_(row == 0),
      last_row_(row + 1 == shared.program.rows),
      rule_(shared.params.router),
      kept_(shared.program.gradient->kept),
      vector_beats_(all(ceil_div(kernel_.tokens[row], kernel_.simd))),
      words_(all(ceil_div(kernel_.tokens[row], kernel_.ring_elements))),
      each_(all(shared.params.core.fabric_words_per_issue)),
      results_most_(all(shared.program.gradient->results)),
      shapes_(shared.params.router, shared.params.queue),
      link_rule_(shared.params.router),
      hop_(static_cast<unsigned>(QueueShapes(shared.params.router).link().latency)),
      index_color_(all(static_cast<std::uint64_t>(kernel_.weights))),
      down_in_(all(static_cast<std::uint64_t>(shared.program.gradient->down[(row + 1) % 2]))),
      down_out_(all(static_cast<std::uint64_t>(shared.program.gradient->down[row % 2]))),
      dispatch_(shared.params.core),
      issue_(shared.params.core),
      entries_most_(all(QueueShapes(shared.params.router).entries())),
      lookahead_(all(kernel_.lookahead)),
      flush_after_(static_cast<unsigned>(kMost) / std::max(1U, kernel_.lookahead)),
      blocks_((columns_ + kWidth - 1) / kWidth),
      entries_(blocks_.size()),
      open_(blocks_.size() * kWidth, 0),
      y_room_(open_.size() + 1, -1),
      x_room_(open_.size() + 1, -1),
      to_y_(open_.size() + 1, 0),
      to_x_(open_.size() + 1, 0),
      take_step_(columns_, 0),
      sent_step_(columns_, 0),
      close_step_(columns_, 0),
      released_step_(columns_, 0),
      counts_(columns_) {
  place_columns();
}

template <class Number>
void GradientRow<Number>::place_columns() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i] = Block{};
    entries_[i] = Entry{};
    // Lanes without a column have nothing to do.
    blocks_[i].done = blocks_[i].streamed = all(1) * Number{-1};
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    Block& b = blocks_[lane / kWidth];
    const auto i = static_cast<unsigned>(lane % kWidth);
    const std::uint32_t from = kernel_.ring[lane];
    const std::uint32_t to = kernel_.ring[(lane + 1) % columns_];
    b.one_hop[i] = static_cast<Number>(std::max(to, from) - std::min(to, from) == 1 ? -1 : 0);
    b.ring_color[i] = static_cast<Number>(kernel_.ring_in[from]);
    b.done[i] = b.streamed[i] = 0;
    b.started[i] = static_cast<Number>(shared_.program.gradient->begins_with_stream ? 0 : -1);
    b.open[i] = -1;
    b.free[i] = static_cast<Number>(kernel_.lookahead);
    b.pop_left[i] = static_cast<Number>(kernel_.words(0, from));
    look_up_take(b, i, lane);
    look_up_sent(b, i, lane);
  }
}

template <class Number>
void GradientRow<Number>::step(Cycle now, std::vector<Entry>& below) {
  moved_ = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) step_block(i, now, below[i]);
  end_cycle();
}

/// Lets dY move on between the lanes.
template <class Number>
inline void GradientRow<Number>::end_cycle() {
  for (std::vector<Number>* const to : {&to_y_, &to_x_}) {
    (*to)[0] = (*to)[columns_];
    (*to)[columns_] = 0;
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) transit(blocks_[i], i * kWidth);
  y_room_[columns_] = y_room_[0];
  x_room_[columns_] = x_room_[0];
  if (++unflushed_ == flush_after_) flush();
}

template <class Number>
inline void GradientRow<Number>::step_block(std::size_t index, Cycle now, Entry& below) {
  Block& b = blocks_[index];
  Entry& entry = entries_[index];
  const std::size_t first = index * kWidth;
  shift(b, entry);
  const Vector ring_room = b.ring_up.room(shapes_.up);
  const Vector chain_room = b.chain_up.room(shapes_.up);
  Vector to_ramp{};
  ramp_port(b, entry, to_ramp);
  south_port(b, entry, below, to_ramp, first);
  ring_out(b, first);
  b.ring_room = shapes_.out_depth - b.ring_queue.words;
  b.chain_room = b.chain_queue.room(shapes_.out_depth, all(1));
  send_output(b, ring_room, chain_room);
  b.free += b.releasing;
  b.releasing = Vector{};
  const Vector loaded = load_rows(b, first);
  finish(b, first, loaded | main_thread(b, first), now);
  if (kept_) note_streamed(b, first, now);
  const Beat beat = choose(b);
  const Vector issued = beat.main | beat.chain | beat.take | beat.send;
  moved_ = moved_ || any(issued);
  book(b, ~issued);
  finish(b, first, issue(b, first, beat), now);
  b.in_use += lookahead_ - b.free;
}

template <class Number>
inline void GradientRow<Number>::shift(Block& b, Entry& entry) {
  begin_cycles(entry.indices, entry.chain, b.indices, b.ring, b.chain, b.over, b.here, b.ring_up,
               b.chain_up);
}

/// The port to the core, for which indices, dY and the chain compete.
template <class Number>
inline void GradientRow<Number>::ramp_port(Block& b, Entry& entry, Vector& to_ramp) {
  using Turn = LaneTurn<Number>;
  const Vector index = entry.indices.has() & ~b.ramped & b.indices.room(shapes_.weights);
  const Vector index_key = b.ramp.key(rule_, index, index_color_);
  const Vector ring_head = b.here.has();
  const Vector ring_key = b.ramp.key(rule_, ring_head & b.ring.room(shapes_.sums), b.ring_color);
  const Vector chain_head = entry.chain.has();
  const Vector chain_key = b.ramp.key(rule_, chain_head & b.chain.room(shapes_.sums), down_in_);
  const Vector best = Turn::least(index_key, Turn::least(ring_key, chain_key));
  const Vector granted = best < Turn::nobody();
  to_ramp = granted & (index_key == best);
  const Vector ring = granted & (ring_key == best);
  const Vector chain = granted & (chain_key == best);
  b.ramp.sent(rule_, to_ramp, index_color_);
  b.ramp.sent(rule_, ring, b.ring_color);
  b.ramp.sent(rule_, chain, down_in_);
  b.indices.push(to_ramp, shapes_.weights);
  b.stall_ring -= ring_head & ~ring;
  b.here_room = b.here.room(shapes_.link);
  b.here.pop(ring);
  b.ring.push(ring, shapes_.sums);
  b.stall_north -= chain_head & ~chain;
  entry.chain.pop(chain);
  entry.chain_freed = -chain;
  b.chain.push(chain, shapes_.sums);
}

/// The port to the row below, for which copies of indices and the chain compete.
template <class Number>
inline void GradientRow<Number>::south_port(Block& b, Entry& entry, Entry& below,
                                            const Vector& to_ramp, std::size_t first) {
  const Vector head = entry.indices.has();
  const Vector chain_head = b.chain_up.has();
  const bool metered = link_rule_.on_links();
  const Vector link = metered ? b.south_link.open() : ~Vector{};
  const Vector chain_room = (below.chain.count + below.chain_freed < shapes_.link.capacity) & link;
  const Vector chain_key = b.south.key(rule_, chain_head & chain_room, down_out_);
  Vector copy{};
  Vector left = to_ramp;
  store(&open_[first], entry.indices.count < entries_most_);
  if (!last_row_) {
    const Vector wants = head & ~b.copied;
    const Vector open = (below.indices.count + below.freed < shapes_.link.capacity) & link;
    b.closures -= wants & ~open;
    const Vector copy_key = b.south.key(rule_, wants & open, index_color_);
    copy = wants & open & (copy_key < chain_key);
    b.south.sent(rule_, copy, index_color_);
    b.copied |= copy;
    b.ramped |= to_ramp;
    left = b.copied & b.ramped;
    b.copied &= ~left;
    b.ramped &= ~left;
    below.indices.push(copy, shapes_.link);
  }
  const Vector chain = chain_head & chain_room & ~copy;
  b.south.sent(rule_, chain, down_out_);
  if (metered) b.south_link.sent(link_rule_, copy | chain);
  b.stall_south -= chain_head & ~chain;
  b.chain_up.pop(chain);
  below.chain.push(chain, shapes_.link);
  b.stall_weights -= head & ~left;
  entry.indices.pop(left);
  entry.freed = -left;
}

/// dY on its way to the next core of the ring: into its router, or that in between.
template <class Number>
inline void GradientRow<Number>::ring_out(Block& b, std::size_t first) {
  const Vector head = b.ring_up.has();
  Vector out = head & select(b.one_hop, load(&y_room_[first + 1]), load(&x_room_[first + 1]));
  if (link_rule_.on_links()) {
    out &= b.ring_link.open();
    b.ring_link.sent(link_rule_, out);
  }
  b.stall_out -= head & ~out;
  b.ring_up.pop(out);
  store(&to_y_[first + 1], out & b.one_hop);
  store(&to_x_[first + 1], out & ~b.one_hop);
}

/// One word goes up the ramp, from the output queues in turn.
template <class Number>
inline void GradientRow<Number>::send_output(Block& b, const Vector& ring_room,
                                             const Vector& chain_room) {
  const Vector ring_key = b.queues.key(b.ring_queue.has() & ring_room, all(kRingQueue));
  const Vector chain_key = b.queues.key(b.chain_queue.has() & chain_room, all(kChainQueue));
  const Vector ring = ring_key < chain_key;
  const Vector chain = chain_key < ring_key;
  b.queues.had(ring, all(kRingQueue));
  b.queues.had(chain, all(kChainQueue));
  b.ring_queue.pop(ring);
  b.ring_up.push(ring, shapes_.up);
  b.chain_queue.pop(chain);
  b.chain_up.push(chain, shapes_.up);
}

/// Passes over rows that are not to be taken or sent here, or begins to take the next.
template <class Number>
inline Lanes<Number> GradientRow<Number>::load_rows(Block& b, std::size_t first) {
  const Vector idle = b.started & b.take_more & ~b.taking;
  const Vector pass = idle & b.own_take;
  const Vector begin = idle & ~b.own_take & (b.free > 0);
  b.free += begin;
  b.taking |= begin;
  b.taken -= pass;
  const Vector skip = b.started & b.send_more & ~b.sends & (b.taken > b.sent);
  b.sent -= skip;
  advance(b, first, pass, skip, Vector{});
  return pass | begin | skip;
}

template <class Number>
inline Lanes<Number> GradientRow<Number>::main_thread(Block& b, std::size_t first) {
  const Vector zero{};
  b.task.begin_cycle();
  const Vector may = (b.taken > b.closed) & (b.task.command | (b.results < results_most_));
  const Vector effect = b.task.due() & (b.vector == zero) & may;
  const Vector close = effect & b.task.command;
  b.vector = select(effect & ~close, vector_beats_, b.vector);
  b.task.release(effect);
  b.closed -= close;
  advance(b, first, zero, zero, close);
  Vector pop = ~b.task.full & b.indices.has();
  if (!dispatch_.overlaps()) pop &= b.vector == zero;
  const Vector command = pop & (b.pop_left == zero);
  b.pop_left += pop & ~command;
  b.task.take(dispatch_, pop, command);
  b.started |= pop;
  b.indices.pop(pop);
  return close;
}

/// Which context issues: the main thread, then chain, take and send.
template <class Number>
inline typename GradientRow<Number>::Beat GradientRow<Number>::choose(Block& b) const {
  const Vector zero{};
  const auto least = LaneTurn<Number>::least;
  Beat beat;
  beat.take_words = least(words_ - b.words_taken, each_);
  beat.send_words = least(words_ - b.words_sent, each_);
  const Vector here = select(b.own_sent | (b.taken > b.sent), words_, b.taking & b.words_taken);
  beat.main = b.vector > zero;
  beat.chain = (b.results > zero) & b.chain_room;
  if (kept_) beat.chain &= b.streamed;
  if (without_chain_) beat.chain = zero;
  if (!first_row_) beat.chain &= b.chain.has();
  beat.take = b.taking & b.ring.has(beat.take_words);
  beat.send = b.started & b.send_more & b.sends & (b.words_sent + beat.send_words <= here) &
              (beat.send_words <= b.ring_room);
  const auto chosen = b.slot.choose(issue_, {beat.main, beat.chain, beat.take, beat.send});
  std::tie(beat.main, beat.chain, beat.take, beat.send) =
      std::tie(chosen[0], chosen[1], chosen[2], chosen[3]);
  return beat;
}

/// Performs the beats; returns where something ended.
template <class Number>
inline Lanes<Number> GradientRow<Number>::issue(Block& b, std::size_t first, const Beat& beat) {
  const Vector zero{};
  b.vector += beat.main;
  if (!without_chain_) b.results -= beat.main & (b.vector == zero);
  const Vector in = beat.take & beat.take_words;
  b.words_taken += in;
  b.ring.pop_words(in);
  const Vector took = beat.take & (b.words_taken == words_);
  b.words_taken &= ~took;
  b.taking &= ~took;
  b.taken -= took;
  const Vector out = beat.send & beat.send_words;
  b.words_sent += out;
  b.ring_queue.push_words(out);
  const Vector sent = beat.send & (b.words_sent == words_);
  b.words_sent &= ~sent;
  b.sent -= sent;
  b.chain_queue.push_words(beat.chain & all(1));
  b.results += beat.chain;
  if (!first_row_) {
    b.chain.pop(beat.chain);
  }
  advance(b, first, took, sent, zero);
  return took | sent | beat.chain;
}

/// Why the lanes without a beat had none; see GradientCores::cause.
template <class Number>
inline void GradientRow<Number>::book(Block& b, const Vector& no_beat) {
  const Vector zero{};
  const Vector full = no_beat & b.task.full;
  const Vector early = b.task.left > zero;
  const Vector unfed = ~early & ~(b.taken > b.closed);
  const Vector may = b.task.command | (b.results < results_most_);
  const Vector due = full & ~early & ~unfed;
  b.dispatch -= (full & early) | (due & may);
  b.buffer -= due & ~may;
  b.weights -= no_beat & ~b.task.full & b.open;
  Vector rest = no_beat & ~b.task.full & ~b.open & ~b.done;
  Vector holds = b.results > zero;
  if (kept_) holds &= b.streamed;
  if (without_chain_) rest &= ~b.streamed;
  b.ring_in -= (full & unfed) | (rest & select(holds, b.chain_room, b.take_more));
  b.ring_out -= rest & ~select(holds, b.chain_room, b.take_more);
}

/// Lanes that did something may have done all.
template <class Number>
inline void GradientRow<Number>::finish(Block& b, std::size_t first, const Vector& progress,
                                        Cycle now) {
  const Vector done =
      progress & ~b.open & ~b.take_more & ~b.send_more & (b.results == Vector{}) & ~b.done;
  if (!any(done)) return;
  b.done |= done;
  for_each_lane<Number>(done, [&](unsigned i) {
    counts_[first + i].end = now + 1;
    if (!without_chain_) ++finished_;
  });
}

/// Lanes whose stream and ring are done, dY out of the output queue included.
template <class Number>
inline void GradientRow<Number>::note_streamed(Block& b, std::size_t first, Cycle now) {
  const Vector ready = ~b.streamed & ~b.open & ~b.take_more & ~b.send_more & ~b.ring_queue.has();
  if (!any(ready)) return;
  b.streamed |= ready;
  for_each_lane<Number>(ready, [&](unsigned i) {
    counts_[first + i].streamed = now;
    if (!without_chain_) return;
    ++finished_;
    ready_.push_back(static_cast<std::uint32_t>(first + i));
    copied_in_time_ = copied_in_time_ && entries_[first / kWidth].indices.count[i] == 0;
  });
}

/// The dot products of a lane are as good as one that is always there, unless it has none.
template <class Number>
void GradientRow<Number>::leave_out_chain() {
  without_chain_ = true;
  results_most_ = all(kMost);
  copied_.assign(open_.size(), 0);
  north_open_.assign(open_.size(), -1);
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    std::uint64_t positions = 0;
    for (std::size_t s = 0; s < kernel_.steps; ++s) {
      positions += kernel_.count(s, kernel_.ring[lane]);
    }
    blocks_[lane / kWidth].results[lane % kWidth] = static_cast<Number>(positions == 0 ? 0 : 1);
  }
}

template <class Number>
void GradientRow<Number>::step(Cycle now, const std::vector<Number>* south_open) {
  moved_ = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Entry below{};
    if (south_open != nullptr)
      below.indices.count = shapes_.link.capacity & ~load(&(*south_open)[i * kWidth]);
    const Vector before = below.indices.count;
    step_block(i, now, below);
    store(&copied_[i * kWidth], before - below.indices.count);
    Vector& leaving = blocks_[i].leaving;
    leaving = (leaving >> 1) | (entries_[i].freed << hop_);
    show_north(i, leaving);
  }
  end_cycle();
}

/// What the row above sees: a slot is free again a link's latency and a cycle after its word left.
template <class Number>
inline void GradientRow<Number>::show_north(std::size_t index, const Vector& leaving) {
  Vector held = entries_[index].indices.count;
  for (unsigned hop = 1; hop <= hop_; ++hop) held += (leaving >> hop) & all(1);
  store(&north_open_[index * kWidth], held < shapes_.link.capacity);
}

template <class Number>
bool GradientRow<Number>::meets_closed(const std::vector<Number>& south_open) const {
  Vector closed{};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    closed |= entries_[i].indices.has() & ~blocks_[i].copied & ~load(&south_open[i * kWidth]);
  }
  return any(closed);
}

/// A follower holds what this row has sent south and not let go of itself: at most one word.
template <class Number>
GradientRow<Number> GradientRow<Number>::follower() const {
  GradientRow row = *this;
  for (std::size_t i = 0; i < row.blocks_.size(); ++i) {
    LaneQueue<Number>& indices = row.entries_[i].indices;
    indices.count = indices.seen = row.blocks_[i].copied & all(1);
    indices.flight = row.entries_[i].freed = Vector{};
    row.show_north(i, row.blocks_[i].leaving);
  }
  return row;
}

/// Looks up the rows that come next in the lanes that have taken, sent or closed one.
template <class Number>
void GradientRow<Number>::advance(Block& b, std::size_t first, const Vector& take,
                                  const Vector& sent, const Vector& close) {
  const Vector changed = take | sent | close;
  if (!any(changed)) return;
  for_each_lane<Number>(changed, [&](unsigned i) {
    const std::size_t lane = first + i;
    if (take[i] != 0) {
      ++take_step_[lane];
      look_up_take(b, i, lane);
    }
    if (sent[i] != 0) {
      ++sent_step_[lane];
      look_up_sent(b, i, lane);
    }
    if (close[i] != 0) {
      const std::uint32_t next = ++close_step_[lane];
      b.open[i] = static_cast<Number>(next == kernel_.steps ? 0 : -1);
      if (next != kernel_.steps) {
        b.pop_left[i] = static_cast<Number>(kernel_.words(next, kernel_.ring[lane]));
      }
    }
    if (sent[i] != 0 || close[i] != 0) release(b, i, lane);
  });
}

template <class Number>
void GradientRow<Number>::look_up_take(Block& b, unsigned i, std::size_t lane) {
  const std::uint32_t step = take_step_[lane];
  b.take_more[i] = static_cast<Number>(step == kernel_.steps ? 0 : -1);
  if (step == kernel_.steps) return;
  b.own_take[i] = static_cast<Number>(shared_.final_lane[step] == lane ? -1 : 0);
}

template <class Number>
void GradientRow<Number>::look_up_sent(Block& b, unsigned i, std::size_t lane) {
  const std::uint32_t step = sent_step_[lane];
  b.send_more[i] = static_cast<Number>(step == kernel_.steps ? 0 : -1);
  if (step == kernel_.steps) return;
  const std::uint32_t owner = shared_.final_lane[step];
  b.own_sent[i] = static_cast<Number>(owner == lane ? -1 : 0);
  b.sends[i] = static_cast<Number>(owner == (lane + 1) % columns_ ? 0 : -1);
}

/// The vectors of rows that are closed and sent on become free in the next cycle.
template <class Number>
void GradientRow<Number>::release(Block& b, unsigned i, std::size_t lane) {
  while (b.closed[i] > 0 && b.sent[i] > 0) {
    if (shared_.final_lane[released_step_[lane]] != lane) {
      b.releasing[i] = static_cast<Number>(b.releasing[i] + 1);
    }
    ++released_step_[lane];
    b.closed[i] = static_cast<Number>(b.closed[i] - 1);
    b.sent[i] = static_cast<Number>(b.sent[i] - 1);
    b.taken[i] = static_cast<Number>(b.taken[i] - 1);
  }
}

/// dY that the routers of these lanes, and those in between, get and pass on.
template <class Number>
inline void GradientRow<Number>::transit(Block& b, std::size_t first) {
  const Vector head = b.over.has();
  Vector pass = head & b.here_room;
  if (link_rule_.on_links()) {
    pass &= b.over_link.open();
    b.over_link.sent(link_rule_, pass);
  }
  b.stall_pass -= head & ~pass;
  b.over.pop(pass);
  b.over.push(load(&to_x_[first]), shapes_.link);
  b.here.push(load(&to_y_[first]) | pass, shapes_.link);
  store(&y_room_[first], b.here.room(shapes_.link));
  store(&x_room_[first], b.over.room(shapes_.link));
}

template <class Number>
void GradientRow<Number>::arrive(const std::vector<Number>& lanes) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].indices.arrive(load(&lanes[i * kWidth]));
  }
}

/// Moves the counts out of the lanes before they could overflow.
template <class Number>
void GradientRow<Number>::flush() {
  unflushed_ = 0;
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    const Block& b = blocks_[lane / kWidth];
    const std::size_t i = lane % kWidth;
    GradientLaneCounts& sum = counts_[lane];
    const auto add = [i](std::uint64_t& to, const Vector& from) {
      to += static_cast<std::uint64_t>(from[i]);
    };
    add(sum.dispatch, b.dispatch);
    add(sum.weights, b.weights);
    add(sum.ring_in, b.ring_in);
    add(sum.ring_out, b.ring_out);
    add(sum.buffer, b.buffer);
    add(sum.in_use, b.in_use);
    add(sum.stall_weights, b.stall_weights);
    add(sum.closures, b.closures);
    add(sum.stall_ring, b.stall_ring);
    add(sum.stall_pass, b.stall_pass);
    add(sum.stall_out, b.stall_out);
    add(sum.stall_north, b.stall_north);
    add(sum.stall_south, b.stall_south);
  }
  for (Block& b : blocks_) {
    b.dispatch = b.weights = b.ring_in = b.ring_out = b.buffer = b.in_use = Vector{};
    b.stall_weights = b.closures = b.stall_ring = b.stall_pass = b.stall_out = Vector{};
    b.stall_north = b.stall_south = Vector{};
  }
}

template <class Number>
const std::vector<GradientLaneCounts>& GradientRow<Number>::counts() {
  flush();
  return counts_;
}

template class GradientRow<std::int8_t>;
template class GradientRow<std::int16_t>;

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "models/wse/gradient_row.hpp"

#include <algorithm>
#include <array>

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

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
      fixed_(shared.params.router.arbiter == Arbiter::fixed),
      kept_(shared.program.gradient->kept),
      vector_beats_(all(ceil_div(kernel_.tokens[row], kernel_.simd))),
      words_(all(ceil_div(kernel_.tokens[row], kernel_.ring_elements))),
      each_(all(shared.params.core.fabric_words_per_issue)),
      results_most_(all(shared.program.gradient->results)),
      limits_(shared.params),
      entries_most_(all(shared.params.router.entries)),
      lookahead_(all(kernel_.lookahead)),
      dispatch_(all(shared.params.core.dispatch)),
      cmd_cycles_(all(shared.params.core.cmd_cycles)),
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
  const Vector u_room = b.u_count < limits_.u_capacity;
  const Vector v_room = b.v_count < limits_.u_capacity;
  Vector to_ramp{};
  ramp_port(b, entry, to_ramp);
  south_port(b, entry, below, to_ramp, first);
  ring_out(b, first);
  b.ring_room = limits_.out_depth - b.ring_queue;
  b.chain_room = b.chain_queue < limits_.out_depth;
  send_output(b, u_room, v_room);
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
  arrivals(entry.seen, entry.flight);
  arrivals(entry.chain_seen, entry.chain_flight);
  arrivals(b.w_seen, b.w_flight);
  arrivals(b.r_seen, b.r_flight);
  arrivals(b.c_seen, b.c_flight);
  arrivals(b.x_seen, b.x_flight);
  arrivals(b.y_seen, b.y_flight);
  arrivals(b.u_seen, b.u_flight);
  arrivals(b.v_seen, b.v_flight);
}

/// The port to the core, for which indices, dY and the chain compete, in this order of colors.
template <class Number>
inline void GradientRow<Number>::ramp_port(Block& b, Entry& entry, Vector& to_ramp) {
  const Vector ring_head = b.y_seen > 0;
  const Vector north_head = entry.chain_seen > 0;
  const Vector w = (entry.seen > 0) & ~b.ramped & (b.w_count < limits_.w_capacity);
  const Vector r = ring_head & (b.r_count < limits_.r_capacity);
  const Vector n = north_head & (b.c_count < limits_.r_capacity);
  const Vector neither = ~b.last_weight & ~b.last_ring;
  // The first color after that of the last grant, which was of the chain if of neither other.
  const Vector grant_w = w & (neither | (b.last_weight & ~r & ~n) | (b.last_ring & ~n));
  const Vector grant_r = r & (b.last_weight | (~n & ~w & b.last_ring) | (neither & ~w));
  const Vector grant_n = n & ~grant_w & ~grant_r;
  if (!fixed_) {
    b.last_weight = grant_w | (b.last_weight & ~grant_r & ~grant_n);
    b.last_ring = grant_r | (b.last_ring & ~grant_w & ~grant_n);
  }
  to_ramp = grant_w;
  b.w_count -= grant_w;
  b.w_flight |= grant_w & limits_.ramp_bit;
  b.stall_ring -= ring_head & ~grant_r;
  b.y_seen += grant_r;
  b.granted = grant_r;
  b.r_count -= grant_r;
  b.r_flight |= grant_r & limits_.ramp_bit;
  b.stall_north -= north_head & ~grant_n;
  entry.chain_seen += grant_n;
  entry.chain_count += grant_n;
  entry.chain_freed = -grant_n;
  b.c_count -= grant_n;
  b.c_flight |= grant_n & limits_.ramp_bit;
}

/// The port to the row below, for which copies of indices and the chain compete.
template <class Number>
inline void GradientRow<Number>::south_port(Block& b, Entry& entry, Entry& below,
                                            const Vector& to_ramp, std::size_t first) {
  const Vector head = entry.seen > 0;
  const Vector chain_head = b.v_seen > 0;
  const Vector chain = chain_head & (below.chain_count + below.chain_freed < limits_.hop_capacity);
  Vector copy{};
  Vector left = to_ramp;
  store(&open_[first], entry.count < entries_most_);
  if (!last_row_) {
    const Vector wants = head & ~b.copied;
    const Vector open = below.count + below.freed < limits_.hop_capacity;
    b.closures -= wants & ~open;
    copy = wants & open & ~(b.south_weight & chain);
    b.copied |= copy;
    b.ramped |= to_ramp;
    left = b.copied & b.ramped;
    b.copied &= ~left;
    b.ramped &= ~left;
    below.count -= copy;
    below.flight |= copy & limits_.hop_bit;
  }
  const Vector grant_chain = chain & ~copy;
  if (!fixed_) b.south_weight = copy | (b.south_weight & ~grant_chain);
  b.stall_south -= chain_head & ~grant_chain;
  b.v_seen += grant_chain;
  b.v_count += grant_chain;
  below.chain_count -= grant_chain;
  below.chain_flight |= grant_chain & limits_.hop_bit;
  b.stall_weights -= head & ~left;
  entry.seen += left;
  entry.count += left;
  entry.freed = -left;
}

/// dY on its way to the next core of the ring: into its router, or that in between.
template <class Number>
inline void GradientRow<Number>::ring_out(Block& b, std::size_t first) {
  const Vector head = b.u_seen > 0;
  const Vector out = head & select(b.one_hop, load(&y_room_[first + 1]), load(&x_room_[first + 1]));
  b.stall_out -= head & ~out;
  b.u_seen += out;
  b.u_count += out;
  store(&to_y_[first + 1], out & b.one_hop);
  store(&to_x_[first + 1], out & ~b.one_hop);
}

/// One word goes up the ramp, from the output queues in turn.
template <class Number>
inline void GradientRow<Number>::send_output(Block& b, const Vector& u_room, const Vector& v_room) {
  const Vector ring_may = (b.ring_queue > 0) & u_room;
  const Vector chain_may = (b.chain_queue > 0) & v_room;
  const Vector ring = ring_may & ~(b.turn_chain & chain_may);
  const Vector chain = chain_may & ~ring;
  b.turn_chain = ring | (b.turn_chain & ~chain);
  b.ring_queue += ring;
  b.u_count -= ring;
  b.u_flight |= ring & limits_.ramp_bit;
  b.chain_queue += chain;
  b.v_count -= chain;
  b.v_flight |= chain & limits_.ramp_bit;
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
  b.ready += b.ready > zero;
  const Vector may = (b.taken > b.closed) & (b.command | (b.results < results_most_));
  const Vector effect = b.full & (b.ready == zero) & (b.vector == zero) & may;
  const Vector close = effect & b.command;
  b.vector = select(effect & ~close, vector_beats_, b.vector);
  b.full &= ~effect;
  b.closed -= close;
  advance(b, first, zero, zero, close);
  Vector pop = ~b.full & (b.w_seen > zero);
  if (!shared_.params.core.dispatch_overlap) pop &= b.vector == zero;
  const Vector command = pop & (b.pop_left == zero);
  b.pop_left += pop & ~command;
  b.command = (b.command & ~pop) | command;
  b.ready = select(pop, select(command, cmd_cycles_, dispatch_), b.ready);
  b.full |= pop;
  b.started |= pop;
  b.w_seen += pop;
  b.w_count += pop;
  return close;
}

/// Which context issues. The order is chain, take, send, main; or main first; or in turn.
template <class Number>
inline typename GradientRow<Number>::Beat GradientRow<Number>::choose(Block& b) const {
  const Vector zero{};
  const auto least = [](const Vector& x, const Vector& y) { return select(x < y, x, y); };
  Beat beat;
  beat.take_words = least(words_ - b.words_taken, each_);
  beat.send_words = least(words_ - b.words_sent, each_);
  const Vector here = select(b.own_sent | (b.taken > b.sent), words_, b.taking & b.words_taken);
  beat.main = b.vector > zero;
  beat.chain = (b.results > zero) & b.chain_room;
  if (kept_) beat.chain &= b.streamed;
  if (without_chain_) beat.chain = zero;
  if (!first_row_) beat.chain &= b.c_seen > zero;
  beat.take = b.taking & (b.r_seen >= beat.take_words);
  beat.send = b.started & b.send_more & b.sends & (b.words_sent + beat.send_words <= here) &
              (beat.send_words <= b.ring_room);
  if (shared_.params.core.sched == Sched::round_robin) {
    const std::array<Vector*, 4> context{&beat.main, &beat.chain, &beat.take, &beat.send};
    Vector turn = b.turn;
    std::array<Vector, 4> chosen{};
    for (unsigned from = 0; from < 4; ++from) {
      Vector left = b.turn == all(from);
      for (unsigned i = from; i < from + 4; ++i) {
        const Vector mine = left & *context.at(i % 4);
        chosen.at(i % 4) |= mine;
        turn = select(mine, all((i + 1) % 4), turn);
        left &= ~mine;
      }
    }
    for (unsigned i = 0; i < 4; ++i) *context.at(i) = chosen.at(i);
    b.turn = turn;
    return beat;
  }
  if (shared_.params.core.sched == Sched::main_first) beat.chain &= ~beat.main;
  const Vector main_first = shared_.params.core.sched == Sched::main_first ? beat.main : Vector{};
  beat.take &= ~beat.chain & ~main_first;
  beat.send &= ~beat.chain & ~beat.take & ~main_first;
  beat.main &= ~beat.chain & ~beat.take & ~beat.send;
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
  b.r_seen -= in;
  b.r_count -= in;
  const Vector took = beat.take & (b.words_taken == words_);
  b.words_taken &= ~took;
  b.taking &= ~took;
  b.taken -= took;
  const Vector out = beat.send & beat.send_words;
  b.words_sent += out;
  b.ring_queue += out;
  const Vector sent = beat.send & (b.words_sent == words_);
  b.words_sent &= ~sent;
  b.sent -= sent;
  b.chain_queue -= beat.chain;
  b.results += beat.chain;
  if (!first_row_) {
    b.c_seen += beat.chain;
    b.c_count += beat.chain;
  }
  advance(b, first, took, sent, zero);
  return took | sent | beat.chain;
}

/// Why the lanes without a beat had none; see GradientCores::cause.
template <class Number>
inline void GradientRow<Number>::book(Block& b, const Vector& no_beat) {
  const Vector zero{};
  const Vector full = no_beat & b.full;
  const Vector early = b.ready > zero;
  const Vector unfed = ~early & ~(b.taken > b.closed);
  const Vector may = b.command | (b.results < results_most_);
  const Vector due = full & ~early & ~unfed;
  b.dispatch -= (full & early) | (due & may);
  b.buffer -= due & ~may;
  b.weights -= no_beat & ~b.full & b.open;
  Vector rest = no_beat & ~b.full & ~b.open & ~b.done;
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
  const Vector ready =
      ~b.streamed & ~b.open & ~b.take_more & ~b.send_more & (b.ring_queue == Vector{});
  if (!any(ready)) return;
  b.streamed |= ready;
  for_each_lane<Number>(ready, [&](unsigned i) {
    counts_[first + i].streamed = now;
    if (!without_chain_) return;
    ++finished_;
    ready_.push_back(static_cast<std::uint32_t>(first + i));
    copied_in_time_ = copied_in_time_ && entries_[first / kWidth].count[i] == 0;
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
      below.count = limits_.hop_capacity & ~load(&(*south_open)[i * kWidth]);
    const Vector before = below.count;
    step_block(i, now, below);
    store(&copied_[i * kWidth], before - below.count);
    Vector& leaving = blocks_[i].leaving;
    leaving = (leaving >> 1) | (entries_[i].freed << shared_.params.router.hop.value());
    show_north(i, leaving);
  }
  end_cycle();
}

/// What the row above sees: a slot is free again a link's latency and a cycle after its word left.
template <class Number>
inline void GradientRow<Number>::show_north(std::size_t index, const Vector& leaving) {
  Vector held = entries_[index].count;
  const unsigned hops = shared_.params.router.hop;
  for (unsigned hop = 1; hop <= hops; ++hop) held += (leaving >> hop) & all(1);
  store(&north_open_[index * kWidth], held < limits_.hop_capacity);
}

template <class Number>
bool GradientRow<Number>::meets_closed(const std::vector<Number>& south_open) const {
  Vector closed{};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    closed |= (entries_[i].seen > 0) & ~blocks_[i].copied & ~load(&south_open[i * kWidth]);
  }
  return any(closed);
}

/// A follower holds what this row has sent south and not let go of itself: at most one word.
template <class Number>
GradientRow<Number> GradientRow<Number>::follower() const {
  GradientRow row = *this;
  for (std::size_t i = 0; i < row.blocks_.size(); ++i) {
    row.entries_[i].count = row.entries_[i].seen = row.blocks_[i].copied & all(1);
    row.entries_[i].flight = row.entries_[i].freed = Vector{};
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
  const Vector y_open = b.y_count < limits_.hop_capacity;
  const Vector head = b.x_seen > 0;
  const Vector pass = head & y_open;
  b.stall_pass -= head & ~pass;
  const Vector to_x = load(&to_x_[first]);
  b.x_seen += pass;
  b.x_count += pass - to_x;
  b.x_flight |= to_x & limits_.hop_bit;
  const Vector to_y = load(&to_y_[first]) | pass;
  b.y_count += b.granted - to_y;
  b.y_flight |= to_y & limits_.hop_bit;
  store(&y_room_[first], b.y_count < limits_.hop_capacity);
  store(&x_room_[first], b.x_count < limits_.hop_capacity);
}

template <class Number>
void GradientRow<Number>::arrive(const std::vector<Number>& lanes) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Vector words = load(&lanes[i * kWidth]);
    entries_[i].seen -= words;
    entries_[i].count -= words;
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

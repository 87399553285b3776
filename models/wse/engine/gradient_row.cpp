// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_row.hpp"

#include <algorithm>

namespace lacuna::wse {
namespace {

// The output queues of a core, in the order in which they are asked first.
constexpr unsigned kRingQueue = 0;
constexpr unsigned kChainQueue = 1;

// The copies of indices.
constexpr std::size_t kOnward = 0;
constexpr std::size_t kToCore = 1;

}  // namespace

template <class Number>
GradientRow<Number>::GradientRow(const GradientLanes& shared, std::uint32_t row)
    : shared_(shared),
      kernel_(shared.program.kernel),
      columns_(shared.program.columns),
      first_row_(row == 0),
      last_row_(row + 1 == shared.program.rows),
      rule_(shared.params.router),
      shapes_(shared.params.router, shared.params.queue),
      link_rule_(shared.params.router),
      hop_(static_cast<unsigned>(QueueShapes(shared.params.router).link().latency)),
      index_color_(all(static_cast<std::uint64_t>(kernel_.weights))),
      down_in_(all(static_cast<std::uint64_t>(shared.program.gradient->down[(row + 1) % 2]))),
      down_out_(all(static_cast<std::uint64_t>(shared.program.gradient->down[row % 2]))),
      control_(shared.params.core, kernel_, *shared.program.gradient, kernel_.tokens[row]),
      entries_most_(all(QueueShapes(shared.params.router).entries())),
      flush_after_(static_cast<unsigned>(kMost) / std::max(1U, kernel_.lookahead)),
      blocks_((columns_ + kWidth - 1) / kWidth),
      entries_(blocks_.size()),
      open_(blocks_.size() * kWidth, 0),
      rings_(shared),
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
    Vector open{};  // lanes without a column have nothing to do
    for (std::size_t lane = i * kWidth; lane < std::min(columns_, (i + 1) * kWidth); ++lane) {
      open[lane % kWidth] = -1;
    }
    blocks_[i] = Block{};
    blocks_[i].core = control_.begin(open, shared_.program.gradient->begins_with_stream);
    entries_[i] = Entry{};
  }
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    Block& b = blocks_[lane / kWidth];
    const auto i = static_cast<unsigned>(lane % kWidth);
    b.pop_left[i] = static_cast<Number>(kernel_.words(0, lane));
    look_up_take(b.core, i, lane);
    look_up_sent(b.core, i, lane);
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
  rings_.end_cycle();
  if (++unflushed_ == flush_after_) flush();
}

template <class Number>
inline void GradientRow<Number>::step_block(std::size_t index, Cycle now, Entry& below) {
  Block& b = blocks_[index];
  Entry& entry = entries_[index];
  const std::size_t first = index * kWidth;
  shift(index, entry);
  const Vector chain_room = b.chain_up.room(shapes_.up);
  Vector to_ramp{};
  ramp_port(index, entry, to_ramp);
  south_port(b, entry, below, to_ramp, first);
  b.ring_room = shapes_.out_depth - b.ring_queue.words;
  b.chain_room = b.chain_queue.room(shapes_.out_depth, all(1));
  send_output(index, chain_room);
  now_ = now;
  typename Control::Beats issued{};
  const GradientWaits<Number> waits = control_.step(b.core, *this, index, now, issued);
  for (const Vector& context : issued) moved_ = moved_ || any(context);
  b.waited.dispatch -= waits.dispatch;
  b.waited.weights -= waits.weights;
  b.waited.ring_in -= waits.ring_in;
  b.waited.ring_out -= waits.ring_out;
  b.waited.buffer -= waits.buffer;
  b.waited.beside -= waits.beside;
  b.in_use += control_.vectors_in_use(b.core);
}

template <class Number>
inline void GradientRow<Number>::shift(std::size_t index, Entry& entry) {
  Block& b = blocks_[index];
  begin_cycles(entry.indices, entry.chain, b.indices, b.ring, b.chain, b.chain_up);
  rings_.begin_cycle(index);
}

/// The port to the core, for which indices, dY and the chain compete.
template <class Number>
inline void GradientRow<Number>::ramp_port(std::size_t index, Entry& entry, Vector& to_ramp) {
  Block& b = blocks_[index];
  const Vector wants = b.copies.wants(kToCore, entry.indices.has());
  const Vector index_key = b.ramp.key(rule_, wants & b.indices.room(shapes_.weights), index_color_);
  const Vector ring_key =
      b.ramp.key(rule_, rings_.at_core(index) & b.ring.room(shapes_.sums), rings_.color(index));
  const Vector chain_key =
      b.ramp.key(rule_, entry.chain.has() & b.chain.room(shapes_.sums), down_in_);
  LaneContest<Number> port;
  for (const Vector& key : {index_key, ring_key, chain_key}) port.ask(key);
  to_ramp = port.won(index_key);
  const Vector ring = port.won(ring_key);
  const Vector chain = port.won(chain_key);
  b.ramp.sent(rule_, to_ramp, index_color_);
  b.ramp.sent(rule_, ring, rings_.color(index));
  b.ramp.sent(rule_, chain, down_in_);
  b.indices.push(to_ramp, shapes_.weights);
  rings_.take(index, ring);
  b.ring.push(ring, shapes_.sums);
  entry.chain.let_go(chain);
  entry.chain_freed = -chain;
  b.chain.push(chain, shapes_.sums);
}

/// The port to the row below, for which copies of indices and the chain compete.
template <class Number>
inline void GradientRow<Number>::south_port(Block& b, Entry& entry, Entry& below,
                                            const Vector& to_ramp, std::size_t first) {
  const Vector head = entry.indices.has();
  const Vector link = b.south_link.open(link_rule_);
  const Vector chain_room = (below.chain.count + below.chain_freed < shapes_.link.capacity) & link;
  const Vector chain_key = b.south.key(rule_, b.chain_up.has() & chain_room, down_out_);
  const Vector wants = last_row_ ? Vector{} : b.copies.wants(kOnward, head);
  const Vector open = (below.indices.count + below.freed < shapes_.link.capacity) & link;
  store(&open_[first], entry.indices.count < entries_most_);
  const LanePair<Number> won(b.south.key(rule_, wants & open, index_color_), chain_key);
  b.closures -= found_closed(~Vector{}, wants, open);
  b.south.sent(rule_, won.first, index_color_);
  b.south.sent(rule_, won.second, down_out_);
  b.copies.make(kOnward, won.first);
  b.copies.make(kToCore, to_ramp);
  below.indices.push(won.first, shapes_.link);
  b.south_link.sent(link_rule_, won.first | won.second);
  b.chain_up.let_go(won.second);
  below.chain.push(won.second, shapes_.link);
  const Vector left = b.copies.leave(head, {last_row_ ? Vector{} : ~Vector{}, ~Vector{}});
  entry.indices.let_go(left);
  entry.freed = -left;
}

/// One word goes up the ramp, from the output queues in turn.
template <class Number>
inline void GradientRow<Number>::send_output(std::size_t index, const Vector& chain_room) {
  Block& b = blocks_[index];
  const Vector ring_room = rings_.room(index);
  const LanePair<Number> won(b.queues.key(b.ring_queue.has() & ring_room, all(kRingQueue)),
                             b.queues.key(b.chain_queue.has() & chain_room, all(kChainQueue)));
  b.queues.had(won.first, all(kRingQueue));
  b.queues.had(won.second, all(kChainQueue));
  b.ring_queue.pop(won.first);
  rings_.send(index, won.first);
  b.chain_queue.pop(won.second);
  b.chain_up.push(won.second, shapes_.up);
}

template <class Number>
inline Lanes<Number> GradientRow<Number>::take_word(std::size_t place, const Vector& lanes) {
  Block& b = blocks_[place];
  const Vector command = lanes & (b.pop_left == Vector{});
  b.pop_left += lanes & ~command;
  b.indices.pop(lanes);
  return command;
}

template <class Number>
inline void GradientRow<Number>::move(std::size_t place, const Vector& /*take*/,
                                      const Vector& take_words, const Vector& /*send*/,
                                      const Vector& send_words, const Vector& chain) {
  Block& b = blocks_[place];
  b.ring.pop_words(take_words);
  b.ring_queue.push_words(send_words);
  b.chain_queue.push_words(chain & all(1));
  if (!first_row_) b.chain.pop(chain);
}

template <class Number>
void GradientRow<Number>::ended(std::size_t place, const Vector& lanes) {
  for_each_lane<Number>(lanes, [&](unsigned i) {
    counts_[place * kWidth + i].end = now_ + 1;
    if (!without_chain_) ++finished_;
  });
}

template <class Number>
void GradientRow<Number>::streamed(std::size_t place, const Vector& lanes) {
  for_each_lane<Number>(lanes, [&](unsigned i) {
    const std::size_t lane = place * kWidth + i;
    counts_[lane].streamed = now_;
    if (!without_chain_) return;
    ++finished_;
    ready_.push_back(static_cast<std::uint32_t>(lane));
    copied_in_time_ = copied_in_time_ && entries_[place].indices.count[i] == 0;
  });
}

/// The dot products of a lane are as good as one that is always there, unless it has none.
template <class Number>
void GradientRow<Number>::leave_out_chain() {
  without_chain_ = true;
  control_.leave_out_chain();
  copied_.assign(open_.size(), 0);
  north_open_.assign(open_.size(), -1);
  for (std::size_t lane = 0; lane < columns_; ++lane) {
    std::uint64_t positions = 0;
    for (std::size_t s = 0; s < kernel_.steps; ++s) {
      positions += kernel_.count(s, lane);
    }
    blocks_[lane / kWidth].core.results[lane % kWidth] =
        static_cast<Number>(positions == 0 ? 0 : 1);
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
    closed |= found_closed(~Vector{}, blocks_[i].copies.wants(kOnward, entries_[i].indices.has()),
                           load(&south_open[i * kWidth]));
  }
  return any(closed);
}

/// A follower holds what this row has sent south and not let go of itself: at most one word.
template <class Number>
GradientRow<Number> GradientRow<Number>::follower() const {
  GradientRow row = *this;
  for (std::size_t i = 0; i < row.blocks_.size(); ++i) {
    LaneQueue<Number>& indices = row.entries_[i].indices;
    indices.count = indices.seen = row.blocks_[i].copies.made(kOnward) & all(1);
    indices.flight = row.entries_[i].freed = Vector{};
    row.show_north(i, row.blocks_[i].leaving);
  }
  return row;
}

/// Looks up the rows that come next in the lanes that have taken, sent or closed one.
template <class Number>
void GradientRow<Number>::advance(GradientState<Number>& core, std::size_t place,
                                  const Vector& take, const Vector& sent, const Vector& close) {
  Block& b = blocks_[place];
  for_each_lane<Number>(take | sent | close, [&](unsigned i) {
    const std::size_t lane = place * kWidth + i;
    if (take[i] != 0) {
      ++take_step_[lane];
      look_up_take(core, i, lane);
    }
    if (sent[i] != 0) {
      ++sent_step_[lane];
      look_up_sent(core, i, lane);
    }
    if (close[i] != 0) {
      const std::uint32_t next = ++close_step_[lane];
      core.open[i] = static_cast<Number>(next == kernel_.steps ? 0 : -1);
      if (next != kernel_.steps) {
        b.pop_left[i] = static_cast<Number>(kernel_.words(next, lane));
      }
    }
    if (sent[i] != 0 || close[i] != 0) release(core, i, lane);
  });
}

template <class Number>
void GradientRow<Number>::look_up_take(GradientState<Number>& core, unsigned i, std::size_t lane) {
  const std::uint32_t step = take_step_[lane];
  core.take_more[i] = static_cast<Number>(step == kernel_.steps ? 0 : -1);
  if (step == kernel_.steps) return;
  core.own_take[i] = static_cast<Number>(shared_.owner(step, lane) == lane ? -1 : 0);
}

template <class Number>
void GradientRow<Number>::look_up_sent(GradientState<Number>& core, unsigned i, std::size_t lane) {
  const std::uint32_t step = sent_step_[lane];
  core.send_more[i] = static_cast<Number>(step == kernel_.steps ? 0 : -1);
  if (step == kernel_.steps) return;
  const std::size_t owner = shared_.owner(step, lane);
  core.own_sent[i] = static_cast<Number>(owner == lane ? -1 : 0);
  core.sends[i] = static_cast<Number>(owner == shared_.after[lane] ? 0 : -1);
}

/// The vectors of rows that are closed and sent on become free in the next cycle.
template <class Number>
void GradientRow<Number>::release(GradientState<Number>& core, unsigned i, std::size_t lane) {
  while (core.closed[i] > 0 && core.sent[i] > 0) {
    if (shared_.owner(released_step_[lane], lane) != lane) {
      core.releasing[i] = static_cast<Number>(core.releasing[i] + 1);
    }
    ++released_step_[lane];
    core.closed[i] = static_cast<Number>(core.closed[i] - 1);
    core.sent[i] = static_cast<Number>(core.sent[i] - 1);
    core.taken[i] = static_cast<Number>(core.taken[i] - 1);
  }
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
    add(sum.dispatch, b.waited.dispatch);
    add(sum.weights, b.waited.weights);
    add(sum.ring_in, b.waited.ring_in);
    add(sum.ring_out, b.waited.ring_out);
    add(sum.buffer, b.waited.buffer);
    add(sum.beside, b.waited.beside);
    add(sum.in_use, b.in_use);
    const Entry& entry = entries_[lane / kWidth];
    add(sum.stall_weights, entry.indices.stalled);
    add(sum.closures, b.closures);
    add(sum.stall_north, entry.chain.stalled);
    add(sum.stall_south, b.chain_up.stalled);
  }
  for (Block& b : blocks_) {
    b.waited = GradientWaits<Number>{};
    b.in_use = Vector{};
    b.closures = b.chain_up.stalled = Vector{};
  }
  rings_.flush(counts_);
  for (Entry& entry : entries_) entry.indices.stalled = entry.chain.stalled = Vector{};
}

template <class Number>
const std::vector<GradientLaneCounts>& GradientRow<Number>::counts() {
  flush();
  return counts_;
}

template class GradientRow<std::int8_t>;
template class GradientRow<std::int16_t>;

}  // namespace lacuna::wse

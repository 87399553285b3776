// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/relay_sweep.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"

namespace lacuna::wse {
namespace {

/// The cycles of the last words of a stream, by the number of the word.
class Times {
 public:
  Times(Cycle* at, std::uint32_t mask) : at_(at), mask_(mask) {}
  Cycle& operator[](std::uint32_t word) { return at_[word & mask_]; }

 private:
  Cycle* at_;
  std::uint32_t mask_;
};

/// The words from a core to its neighbour. A word waits in four places: the output queue, the
/// router of the sender, that of the receiver, and the input queue. Of each place it is known from
/// when on the next word can have what one that left it had: the cycle after.
struct Stream {
  std::uint32_t from = kNoRelay;  // core
  std::uint32_t to = kNoRelay;
  std::uint32_t issued = 0;   // words that the sender has issued,
  std::uint32_t known = 0;    // those whose times up to the input queue are known,
  std::uint32_t taken = 0;    // and those that the receiver has taken
  std::size_t times = 0;      // first of its rings
  unsigned out_capacity = 0;  // words in a place, those under way to it included
  unsigned in_capacity = 0;
  Cycle queue_free = 0;         // when the next word can leave the output queue,
  Cycle up_free = 0;            // the router of the sender,
  Cycle over_free = 0;          // and that of the receiver
  LinkMeter link;               // between them
  std::uint64_t stalls_up = 0;  // cycles in which a word at the head of a router's buffer stayed
  std::uint64_t stalls_over = 0;
};

enum Place : std::uint8_t { kIssued, kQueue, kUp, kOver, kTaken };
constexpr std::size_t kPlaces = 5;

/// Where a core is in its program.
struct State {
  std::size_t next = 0;    // op
  std::uint32_t done = 0;  // beats of it
  Cycle free = 0;          // the issue slot
  Cycle wait_in = 0;
  Cycle wait_out = 0;
  Cycle begin = kNever;  // of the first beat
  Stream* in = nullptr;
  Stream* out = nullptr;
  bool listed = false;
};

class RelaySweep {
 public:
  RelaySweep(const TaskParams& params, const RelayProgram& relays);

  /// False if cores wait for each other, or words are left.
  bool run();
  TaskOutcome outcome() const;

 private:
  Times times(const Stream& stream, Place place) {
    return {&times_[stream.times + place * (std::size_t{mask_} + 1)], mask_};
  }
  void list(std::uint32_t core) {
    if (core == kNoRelay || state_[core].listed) return;
    state_[core].listed = true;
    next_.push_back(core);
  }
  void advance(std::uint32_t core);
  static std::uint32_t ready_words(const State& state, const RelayOp& op);
  void move_words(State& state, const RelayOp& op, std::uint32_t words);
  template <bool kTakes, bool kSends>
  void move_words(State& state, std::uint32_t words, Cycle beat);
  void settle(Stream& stream);

  const RelayProgram& relays_;
  const LinkRule rule_;
  const Cycle ramp_up_;
  const Cycle ramp_down_;
  const Cycle hop_;
  const unsigned up_capacity_;
  const unsigned over_capacity_;
  std::uint32_t mask_ = 0;  // of rings
  std::vector<Stream> streams_;
  std::vector<State> state_;
  std::vector<Cycle> times_;
  std::vector<std::uint32_t> now_;   // cores to look at, in order
  std::vector<std::uint32_t> next_;  // and after those
};

RelaySweep::RelaySweep(const TaskParams& params, const RelayProgram& relays)
    : relays_(relays),
      rule_(params.router),
      ramp_up_(QueueShapes(params.router).ramp_up().latency),
      ramp_down_(QueueShapes(params.router).ramp_down(1).latency),
      hop_(QueueShapes(params.router).link().latency),
      up_capacity_(QueueShapes(params.router).ramp_up().capacity),
      over_capacity_(QueueShapes(params.router).link().capacity),
      state_(relays.cores.size()) {
  unsigned most = std::max(up_capacity_, over_capacity_);
  for (std::uint32_t i = 0; i < relays.cores.size(); ++i) {
    const RelayCore& core = relays.cores[i];
    if (core.to == kNoRelay) continue;
    Stream stream;
    stream.from = i;
    stream.to = core.to;
    stream.out_capacity = core.out_depth;
    stream.in_capacity = QueueShapes(params.router).ramp_down(core.in_depth).capacity;
    most = std::max({most, stream.out_capacity, stream.in_capacity});
    streams_.push_back(stream);
  }
  std::size_t ring = 1;
  while (ring < most) ring *= 2;
  mask_ = static_cast<std::uint32_t>(ring - 1);
  times_.assign(streams_.size() * kPlaces * ring, 0);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    stream.times = i * kPlaces * ring;
    state_[stream.from].out = &stream;
    state_[stream.to].in = &stream;
  }
}

/// Words that are known to go their way. Words do not leave a place before those ahead of them.
void RelaySweep::settle(Stream& stream) {
  // a ring holds 0 for words before the first
  Times issued = times(stream, kIssued);
  Times queue = times(stream, kQueue);
  Times up = times(stream, kUp);
  Times over = times(stream, kOver);
  Times taken = times(stream, kTaken);
  const std::uint32_t end = std::min(stream.issued, stream.taken + stream.in_capacity);
  Cycle queue_free = stream.queue_free;
  Cycle up_free = stream.up_free;
  Cycle over_free = stream.over_free;
  for (std::uint32_t n = stream.known; n < end; ++n) {
    const Cycle left = std::max({issued[n], queue_free, up[n - up_capacity_]});
    queue_free = queue[n] = left + 1;
    const Cycle first = std::max(left + ramp_up_, up_free);
    const Cycle onward = std::max({first, over[n - over_capacity_], stream.link.opens()});
    stream.stalls_up += onward - first;
    up_free = up[n] = onward + 1;
    if (rule_.on_links()) stream.link.sent(rule_, onward);
    const Cycle there = std::max(onward + hop_, over_free);
    const Cycle down = std::max(there, taken[n - stream.in_capacity]);
    stream.stalls_over += down - there;
    over_free = over[n] = down + 1;
  }
  stream.queue_free = queue_free;
  stream.up_free = up_free;
  stream.over_free = over_free;
  stream.known = end;
}

/// How many of the words of an instruction are there and have room.
std::uint32_t RelaySweep::ready_words(const State& state, const RelayOp& op) {
  std::uint32_t words = op.beats - state.done;
  if (op.takes) words = std::min(words, state.in->known - state.in->taken);
  if (op.sends) {
    words = std::min(words, state.out->known + state.out->out_capacity - state.out->issued);
  }
  return words;
}

/// Beats of an instruction, each as long as all but its last.
template <bool kTakes, bool kSends>
void RelaySweep::move_words(State& state, std::uint32_t words, Cycle beat) {
  Stream& in = kTakes ? *state.in : *state.out;
  Stream& out = kSends ? *state.out : *state.in;
  Times over = times(in, kOver);
  Times taken = times(in, kTaken);
  Times queue = times(out, kQueue);
  Times issued = times(out, kIssued);
  Cycle free = state.free;
  for (std::uint32_t i = 0; i < words; ++i) {
    Cycle at = free;
    if (kTakes) {
      // `over` is the cycle after it left the router's buffer; it takes the ramp to come
      at = std::max(at, over[in.taken] - 1 + ramp_down_);
      state.wait_in += at - free;
    }
    if (kSends) {
      const Cycle room = std::max(at, queue[out.issued - out.out_capacity]);
      state.wait_out += room - at;
      at = room;
      issued[out.issued++] = at + 1;
    }
    if (kTakes) taken[in.taken++] = at + 1;
    if (state.begin == kNever) state.begin = at;
    free = at + beat;
  }
  state.free = free;
}

void RelaySweep::move_words(State& state, const RelayOp& op, std::uint32_t words) {
  const Cycle beat = Cycle{1} + op.extra;
  if (op.takes && op.sends) {
    move_words<true, true>(state, words, beat);
  } else if (op.takes) {
    move_words<true, false>(state, words, beat);
  } else {
    move_words<false, true>(state, words, beat);
  }
  state.done += words;
  if (state.done == op.beats) state.free += Cycle{op.extra_last} - Cycle{op.extra};
}

/// Runs a core as far as it is known what it finds.
void RelaySweep::advance(std::uint32_t core) {
  State& state = state_[core];
  const std::vector<RelayOp>& ops = relays_.cores[core].ops;
  bool took = false;
  bool sent = false;
  while (state.next != ops.size()) {
    const RelayOp& op = ops[state.next];
    if (!op.takes && !op.sends) {
      state.begin = std::min(state.begin, state.free);
      state.free += op.beats + (op.beats - 1) * Cycle{op.extra} + op.extra_last;
      ++state.next;
      continue;
    }
    if (op.takes) settle(*state.in);
    if (op.sends) settle(*state.out);
    const std::uint32_t words = ready_words(state, op);
    if (words == 0) break;
    move_words(state, op, words);
    took = took || op.takes;
    sent = sent || op.sends;
    if (state.done != op.beats) continue;
    state.done = 0;
    ++state.next;
  }
  if (sent) list(state.out->to);
  if (took) list(state.in->from);
}

bool RelaySweep::run() {
  for (std::uint32_t core = 0; core < state_.size(); ++core) list(core);
  while (!next_.empty()) {
    now_.swap(next_);
    for (const std::uint32_t core : now_) {
      state_[core].listed = false;
      advance(core);
    }
    now_.clear();
  }
  for (std::size_t core = 0; core < state_.size(); ++core) {
    if (state_[core].next != relays_.cores[core].ops.size()) return false;
  }
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return stream.taken == stream.issued; });
}

TaskOutcome RelaySweep::outcome() const {
  TaskOutcome outcome;
  outcome.cores.resize(state_.size());
  outcome.routers.resize(state_.size());
  for (const State& state : state_) outcome.cycles = std::max(outcome.cycles, state.free);
  for (std::size_t i = 0; i < state_.size(); ++i) {
    const State& state = state_[i];
    TaskCounters& counters = outcome.cores[i];
    counters = relays_.cores[i].counters;
    auto& cycles = counters.cycles;
    cycles[static_cast<std::size_t>(TaskCycle::wait_in)] = state.wait_in;
    cycles[static_cast<std::size_t>(TaskCycle::wait_out)] = state.wait_out;
    cycles[static_cast<std::size_t>(TaskCycle::idle)] = outcome.cycles - state.free;
    counters.begin = state.begin;
    counters.end = state.free;
  }
  for (const Stream& stream : streams_) {
    const RelayCore& core = relays_.cores[stream.from];
    RouterCounters& here = outcome.routers[stream.from];
    RouterCounters& there = outcome.routers[stream.to];
    here.sent.at(core.port) += stream.issued;
    here.stalls.at(static_cast<std::size_t>(core.color)) += stream.stalls_up;
    there.sent.at(kRamp) += stream.issued;
    there.stalls.at(static_cast<std::size_t>(core.color)) += stream.stalls_over;
  }
  return outcome;
}

}  // namespace

std::optional<TaskOutcome> sweep_relays(const TaskParams& params, const TaskProgram& program) {
  if (!reason_against_alike(params.router).empty()) return std::nullopt;
  const std::optional<RelayProgram> relays = find_relays(params, program);
  if (!relays) return std::nullopt;
  RelaySweep sweep(params, *relays);
  if (!sweep.run()) return std::nullopt;
  return sweep.outcome();
}

}  // namespace lacuna::wse

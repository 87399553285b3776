// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/shift_sweep.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/pe/task_control.hpp"

namespace lacuna::wse {
namespace {

using Small = std::int8_t;
using Vector = Lanes<Small>;
constexpr std::uint32_t kWidth = LanesOf<Small>::kCount;

/// Stalls are counted up to as many.
constexpr std::uint32_t kMost = 100;

/// Cycles without any word or beat, more than any latency.
constexpr Cycle kPatience = 1000;

using Queue = LaneQueue<Small>;

/// A stream at one core: what it sends, up to the last router, and what it takes.
struct ShiftStream {
  Queue out;                  // the output queue
  LaneBuffer<Small> up;       // of the router, for the ramp,
  LaneBuffer<Small> over;     // of the router between,
  LaneBuffer<Small> here;     // and of that of the core that takes
  Queue in;                   // its queue
  LaneLink<Small> up_link;    // from the router of the sender,
  LaneLink<Small> over_link;  // and from that between
  Vector passes{};
  Vector color{};  // of what arrives

  Vector words() const { return out.count | up.count | over.count | here.count | in.count; }
};

/// The main thread, and microthreads that send or take a stream.
template <unsigned kStreams>
constexpr std::size_t kContexts = 1 + 2 * kStreams;

/// What is around the cores.
template <unsigned kStreams>
struct Block {
  std::array<ShiftStream, kStreams> streams;
  LaneTurn<Small> queues;  // on the ramp up,
  LanePort<Small> ramp;    // and down
  Vector wait_in{};
  Vector wait_out{};
  Vector beside{};  // beats of microthreads in cycles of the main thread
};

/// What a core has counted, and where its program is.
struct Lane {
  const std::vector<LaneOp>* ops = nullptr;
  Cycle end = 0;
  std::uint64_t wait_in = 0;
  std::uint64_t wait_out = 0;
  std::uint64_t beside = 0;
  std::array<std::array<std::uint64_t, 3>, kShiftStreams> stalled{};
};

template <unsigned kStreams>
class ShiftSweep {
 public:
  ShiftSweep(const TaskParams& params, const ShiftProgram& shifts);

  /// False if nothing more can happen and not all programs have come to their end.
  bool run();
  TaskOutcome outcome() const;

 private:
  class Core;
  using Tasks = LaneTasks<kContexts<kStreams>>;
  using Issue = typename Tasks::Issue;

  Small& at(Vector& lanes, std::uint32_t lane) {
    return reinterpret_cast<Small*>(&lanes)[lane % kWidth];  // NOLINT
  }
  Block<kStreams>& block_of(std::uint32_t lane) { return blocks_[lane / kWidth]; }
  /// Lanes from a core to the one that takes its words.
  std::size_t reach(unsigned stream) const { return stream == 0 ? 1 : stride_; }
  /// Who does what in a cycle, as the state at its begin says.
  struct Moves {
    std::array<Vector, kStreams> up{};         // out of output queues
    std::array<Vector, kStreams> from_up{};    // out of the routers of senders,
    std::array<Vector, kStreams> from_over{};  // of those between,
    std::array<Vector, kStreams> down{};       // and of those that take
    Issue issue;
  };

  bool step();
  void choose_words(Block<kStreams>& block, std::size_t index, Moves& moves) const;
  void choose_thread(Block<kStreams>& block, std::size_t index, Moves& moves);
  void apply(Block<kStreams>& block, std::size_t index, const Moves& moves);
  void hand_over();
  void flush();
  void skip_beats();

  const ShiftProgram& shifts_;
  const std::uint32_t stride_;  // lanes from one circle to the next: a spare one ends each
  const std::uint32_t lanes_;
  const ArbiterRule rule_;
  const IssueRule issue_;
  const TaskControl control_;
  const LinkRule link_rule_;
  const LaneShape<Small> up_;
  const LaneShape<Small> link_;
  std::vector<LaneShape<Small>> out_;  // by stream
  std::vector<LaneShape<Small>> in_;
  std::vector<Block<kStreams>> blocks_;
  Tasks tasks_;
  std::vector<Lane> state_;
  std::vector<LaneBorder<Small>> borders_;  // by stream: of `here`
  std::uint32_t begins_ = 0;                // lanes that do something,
  std::uint32_t done_ = 0;                  // and have done it
  Cycle now_ = 0;
  Cycle moved_at_ = 0;  // something last did
  unsigned unflushed_ = 0;
};

template <unsigned kStreams>
ShiftSweep<kStreams>::ShiftSweep(const TaskParams& params, const ShiftProgram& shifts)
    : shifts_(shifts),
      stride_(shifts.circle + 1),
      lanes_(stride_ * shifts.circles),
      rule_(params.router),
      issue_(params.core),
      control_(params),
      link_rule_(params.router),
      up_(QueueShapes(params.router).ramp_up()),
      link_(QueueShapes(params.router).link()),
      blocks_((lanes_ + kWidth - 1) / kWidth),
      tasks_(blocks_.size()),
      state_(blocks_.size() * kWidth) {
  for (unsigned s = 0; s < kStreams; ++s) {
    out_.emplace_back(QueueShapes::output(shifts.out_depth.at(s)));
    in_.emplace_back(QueueShapes(params.router).ramp_down(shifts.in_depth.at(s)));
    borders_.emplace_back(state_.size(), reach(s));
  }
  for (std::uint32_t j = 0; j < shifts.circles; ++j) {
    for (std::uint32_t i = 0; i < shifts.circle; ++i) {
      const std::uint32_t lane = j * stride_ + i;
      const std::uint32_t core = shifts.core_of[j * shifts.circle + i];
      const ShiftCode& code = shifts.codes[shifts.code_of[core]];
      state_[lane].ops = &code.ops;
      if (code.ops.front().kind != LaneOp::Kind::end) {
        at(tasks_.threads[lane / kWidth].ask, lane) = -1;
        tasks_.lanes[lane].place.task = 0;
        ++begins_;
      }
      for (unsigned s = 0; s < kStreams; ++s) {
        const bool passes = shifts.paths.at(s)[core].passes;
        at(block_of(lane).streams[s].passes, lane) = passes ? Small{-1} : Small{0};
        const std::uint32_t from =
            s == 0 ? j * shifts.circle + (i + shifts.circle - 1) % shifts.circle
                   : (j + shifts.circles - 1) % shifts.circles * shifts.circle + i;
        const Color color = shifts.paths.at(s)[shifts.core_of[from]].color;
        at(block_of(lane).streams[s].color, lane) = static_cast<Small>(color);
      }
    }
  }
}

/// A core, which runs one task and is done.
template <unsigned kStreams>
class ShiftSweep<kStreams>::Core : public Tasks::Core {
 public:
  Core(ShiftSweep& sweep, std::uint32_t lane)
      : Tasks::Core(sweep.tasks_, lane), sweep_(sweep), code_(sweep.state_[lane]) {}

  bool all_begun() { return this->place().next_step == code_.ops->size(); }
  StepTaken take_step(Cycle now) {
    const LaneOp& op = (*code_.ops)[this->place().next_step];
    if (op.kind != LaneOp::Kind::end) return this->begin(op);
    for (std::uint8_t context = 1; context < kContexts<kStreams>; ++context) {
      if (this->is_busy(context)) return StepTaken::waits;
    }
    ++this->place().next_step;
    code_.end = now;
    ++sweep_.done_;
    return StepTaken::at_once;
  }
  void begun(Cycle /*now*/) {}
  static std::size_t tasks() { return 0; }
  static bool triggered(std::size_t /*task*/, Cycle /*now*/) { return false; }
  static Task::Kind take(std::size_t /*task*/, Cycle /*now*/) { return Task::Kind::local; }

 private:
  ShiftSweep& sweep_;
  Lane& code_;
};

/// Output queues to ramps, ramps to routers, routers to routers and to queues.
template <unsigned kStreams>
void ShiftSweep<kStreams>::choose_words(Block<kStreams>& block, std::size_t index,
                                        Moves& moves) const {
  for (unsigned s = 0; s < kStreams; ++s) {
    ShiftStream& t = block.streams[s];
    begin_cycles(t.out, t.up, t.over, t.here, t.in);
    moves.up[s] = t.out.has() & t.up.room(up_);
    moves.down[s] = t.here.has() & t.in.room(in_[s]);
    const Vector room = borders_[s].room_after(index * kWidth, reach(s));
    moves.from_up[s] =
        t.up_link.send(link_rule_, t.up.has(), select(t.passes, t.over.room(link_), room));
    moves.from_over[s] = t.over_link.send(link_rule_, t.over.has(), room);
  }
  if constexpr (kStreams == 2) {
    const LanePair<Small> up(block.queues.key(moves.up[0], all_lanes<Small>(0)),
                             block.queues.key(moves.up[1], all_lanes<Small>(1)));
    const LanePair<Small> down(block.ramp.key(rule_, moves.down[0], block.streams[0].color),
                               block.ramp.key(rule_, moves.down[1], block.streams[1].color));
    moves.up = {up.first, up.second};
    moves.down = {down.first, down.second};
    for (unsigned s = 0; s < 2; ++s) {
      block.queues.had(moves.up[s], all_lanes<Small>(s));
      block.ramp.sent(rule_, moves.down[s], block.streams[s].color);
    }
  }
}

template <unsigned kStreams>
void ShiftSweep<kStreams>::choose_thread(Block<kStreams>& block, std::size_t index, Moves& moves) {
  Issue& issue = moves.issue = tasks_.begin_issue(index);
  for (unsigned s = 0; s < kStreams; ++s) {
    issue.room[shift_context(s, true)] = block.streams[s].out.room(out_[s]);
    issue.fed[shift_context(s, false)] = block.streams[s].in.has();
  }
  issue.choose(issue_, tasks_.threads[index].slot);
  block.wait_out -= issue.waits.out;
  block.wait_in -= issue.waits.in;
  block.beside -= issue.beside;
}

template <unsigned kStreams>
void ShiftSweep<kStreams>::apply(Block<kStreams>& block, std::size_t index, const Moves& moves) {
  for (unsigned s = 0; s < kStreams; ++s) {
    ShiftStream& t = block.streams[s];
    borders_[s].send(index * kWidth, select(t.passes, moves.from_over[s], moves.from_up[s]));
    t.out.pop(moves.up[s]);
    t.out.push(moves.issue.issued[shift_context(s, true)], out_[s]);
    t.up.let_go(moves.from_up[s]);
    t.up.push(moves.up[s], up_);
    t.over.let_go(moves.from_over[s]);
    t.over.push(moves.from_up[s] & t.passes, link_);
    t.here.let_go(moves.down[s]);
    t.in.pop(moves.issue.issued[shift_context(s, false)]);
    t.in.push(moves.down[s], in_[s]);
  }
  tasks_.apply(
      index, moves.issue, now_,
      [&](std::uint32_t lane) -> const std::vector<LaneOp>& { return *state_[lane].ops; },
      [](std::uint32_t /*lane*/, std::uint8_t /*context*/) {});
}

/// Words that went on to the router of the core that takes them; a circle's last lane precedes its
/// first, and the last circle the first.
template <unsigned kStreams>
void ShiftSweep<kStreams>::hand_over() {
  const std::size_t all = std::size_t{stride_} * shifts_.circles;
  for (std::size_t first = 0; first < all; first += stride_) {
    borders_[0].close_sent(first, shifts_.circle, 1);
  }
  if constexpr (kStreams == 2) borders_[1].close_sent(0, all, stride_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (unsigned s = 0; s < kStreams; ++s) {
      Queue& queue = blocks_[b].streams[s].here;
      queue.push(borders_[s].sent_before(b * kWidth, reach(s)), link_);
      borders_[s].show(b * kWidth, queue.room(link_));
    }
  }
  for (std::size_t first = 0; first < all; first += stride_) {
    borders_[0].close_room(first, shifts_.circle, 1);
  }
  if constexpr (kStreams == 2) borders_[1].close_room(0, all, stride_);
}

/// Returns whether anything is under way besides beats of main threads.
template <unsigned kStreams>
bool ShiftSweep<kStreams>::step() {
  Vector moved{};
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block<kStreams>& block = blocks_[b];
    const auto first = static_cast<std::uint32_t>(b * kWidth);
    if (any(tasks_.threads[b].ask)) {
      const Vector ask = tasks_.threads[b].ask;
      for_each_lane<Small>(ask, [&](unsigned lane) {
        Core core(*this, first + lane);
        control_.main_thread(core, now_);
      });
    }
    Moves moves;
    choose_words(block, b, moves);
    choose_thread(block, b, moves);
    apply(block, b, moves);
    for (const Vector& issued : moves.issue.issued) moved |= issued;
    for (unsigned s = 0; s < kStreams; ++s) {
      moved |= moves.up[s] | moves.from_up[s] | moves.from_over[s] | moves.down[s];
    }
  }
  if (any(moved) || tasks_.starts()) moved_at_ = now_;
  tasks_.start_threads();
  hand_over();
  if (++unflushed_ == kMost) flush();
  Vector busy{};
  for (const auto& threads : tasks_.threads) {
    busy |= threads.ask | threads.slot.kept(0) | threads.extra;
    for (std::size_t i = 1; i < kContexts<kStreams>; ++i) busy |= threads.left[i];
  }
  for (const Block<kStreams>& block : blocks_) {
    for (const ShiftStream& t : block.streams) busy |= t.words();
  }
  return any(busy);
}

template <unsigned kStreams>
void ShiftSweep<kStreams>::flush() {
  unflushed_ = 0;
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    Block<kStreams>& block = block_of(lane);
    Lane& state = state_[lane];
    state.wait_in += static_cast<std::uint64_t>(at(block.wait_in, lane));
    state.wait_out += static_cast<std::uint64_t>(at(block.wait_out, lane));
    state.beside += static_cast<std::uint64_t>(at(block.beside, lane));
    for (unsigned s = 0; s < kStreams; ++s) {
      ShiftStream& t = block.streams[s];
      auto& stalled = state.stalled.at(s);
      stalled[0] += static_cast<std::uint64_t>(at(t.up.stalled, lane));
      stalled[1] += static_cast<std::uint64_t>(at(t.over.stalled, lane));
      stalled[2] += static_cast<std::uint64_t>(at(t.here.stalled, lane));
    }
  }
  for (Block<kStreams>& block : blocks_) {
    block.wait_in = block.wait_out = block.beside = Vector{};
    for (ShiftStream& t : block.streams) t.up.stalled = t.over.stalled = t.here.stalled = Vector{};
  }
}

/// Skips the cycles in which nothing but beats happens and no main thread comes to its end.
template <unsigned kStreams>
void ShiftSweep<kStreams>::skip_beats() {
  auto least = static_cast<Small>(kMost);
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    const Small beats = at(tasks_.threads[lane / kWidth].left[0], lane);
    if (beats > 0) least = std::min(least, beats);
  }
  if (least <= 1) return;
  const auto skipped = static_cast<unsigned>(least) - 1;
  for (auto& threads : tasks_.threads) {
    Vector& beats = threads.left[0];
    beats -= all_lanes<Small>(skipped) & (beats > Vector{});
  }
  now_ += skipped;
}

template <unsigned kStreams>
bool ShiftSweep<kStreams>::run() {
  while (done_ != begins_) {
    const bool busy = step();
    ++now_;
    if (now_ - moved_at_ > kPatience) return false;  // they wait for each other
    if (!busy) skip_beats();
  }
  flush();
  const auto is_empty = [](const ShiftStream& t) { return !any(t.words()); };
  return std::all_of(blocks_.begin(), blocks_.end(), [&](const Block<kStreams>& block) {
    return std::all_of(block.streams.begin(), block.streams.end(), is_empty);
  });
}

template <unsigned kStreams>
TaskOutcome ShiftSweep<kStreams>::outcome() const {
  TaskOutcome outcome;
  outcome.cores.resize(shifts_.core_of.size());
  outcome.routers.resize(shifts_.core_of.size());
  std::vector<std::size_t> lane_of_core(shifts_.core_of.size());
  for (std::size_t i = 0; i < lane_of_core.size(); ++i) {
    lane_of_core[shifts_.core_of[i]] = i / shifts_.circle * stride_ + i % shifts_.circle;
  }
  for (const Lane& lane : state_) outcome.cycles = std::max(outcome.cycles, lane.end);
  for (std::uint32_t core = 0; core < lane_of_core.size(); ++core) {
    const Lane& lane = state_[lane_of_core[core]];
    const ShiftCode& code = shifts_.codes[shifts_.code_of[core]];
    TaskCounters& counters = outcome.cores[core];
    counters = code.counters;
    counters.begin = tasks_.lanes[lane_of_core[core]].begin;
    counters.end = lane.end;
    auto& cycles = counters.cycles;
    counters.beside = lane.beside;
    cycles[static_cast<std::size_t>(TaskCycle::fabric)] -= lane.beside;
    cycles[static_cast<std::size_t>(TaskCycle::wait_in)] = lane.wait_in;
    cycles[static_cast<std::size_t>(TaskCycle::wait_out)] = lane.wait_out;
    Cycle booked = 0;
    for (const std::uint64_t part : cycles) booked += part;
    cycles[static_cast<std::size_t>(TaskCycle::idle)] = outcome.cycles - booked;
    for (unsigned s = 0; s < kStreams; ++s) {
      const ShiftPath& path = shifts_.paths.at(s)[core];
      const auto color = static_cast<std::size_t>(path.color);
      outcome.routers[core].sent.at(path.out) += code.sent.at(s);
      outcome.routers[core].stalls.at(color) += lane.stalled.at(s)[0];
      if (path.passes) outcome.routers[path.over].sent.at(path.over_out) += code.sent.at(s);
      if (path.passes) outcome.routers[path.over].stalls.at(color) += lane.stalled.at(s)[1];
      outcome.routers[path.to].sent.at(kRamp) += code.sent.at(s);
      const std::size_t to = lane_of_core[path.to];
      outcome.routers[path.to].stalls.at(color) += state_[to].stalled.at(s)[2];
    }
  }
  return outcome;
}

template <unsigned kStreams>
std::optional<TaskOutcome> sweep(const TaskParams& params, const ShiftProgram& shifts) {
  ShiftSweep<kStreams> sweep(params, shifts);
  if (!sweep.run()) return std::nullopt;
  return sweep.outcome();
}

}  // namespace

std::optional<TaskOutcome> sweep_shifts(const TaskParams& params, const TaskProgram& program) {
  const std::optional<ShiftProgram> shifts = find_shifts(params, program);
  if (!shifts) return std::nullopt;
  return shifts->streams == 1 ? sweep<1>(params, *shifts) : sweep<2>(params, *shifts);
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "models/wse/streaming_sweep.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/wse/fold.hpp"
#include "models/wse/lane_injectors.hpp"
#include "models/wse/streaming_row.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

/// Neighbouring rows with equal tokens.
struct RowClass {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Neighbouring rows that have done the same so far, a hop later each.
template <class Number>
struct RowGroup {
  RowClass rows;
  std::unique_ptr<StreamingRow<Number>> row;
};

std::vector<RowClass> classes_of(const std::vector<std::uint32_t>& tokens) {
  std::vector<RowClass> classes;
  for (std::uint32_t r = 0; r < tokens.size(); ++r) {
    if (r == 0 || tokens[r] != tokens[r - 1]) classes.push_back({r, r});
    classes.back().last = r;
  }
  return classes;
}

template <class Number>
class Sweep final : public StreamingSweep {
 public:
  Sweep(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        injectors_(program, lanes(program)),
        all_open_(lanes(program), -1) {
    for (const RowClass& rows : classes_of(program.kernel.tokens)) {
      const std::uint32_t tokens = program.kernel.tokens[rows.first];
      groups_.push_back(
          {rows, std::make_unique<StreamingRow<Number>>(params, program.kernel, tokens)});
    }
    classes_ = static_cast<std::uint32_t>(groups_.size());
  }

  std::optional<SweepOutcome> run() override {
    Cycle last_move = 0;
    for (Cycle now = 0;; ++now) {
      const bool sent = injectors_.moved();
      if (groups_.size() > 1) {
        step_groups(now);
      } else {
        groups_.front().row->step(now);
      }
      bool moved = sent;
      bool finished = true;
      for (const RowGroup<Number>& group : groups_) {
        moved = moved || group.row->moved();
        finished = finished && group.row->finished();
      }
      if (finished) return outcome();
      StreamingRow<Number>& top = *groups_.front().row;
      top.arrive(injectors_.step(now, top.open()));
      if (moved) last_move = now;
      if (now - last_move > ClockDomain::kWatchdog) return {};
    }
  }

 private:
  static std::size_t lanes(const Program& program) {
    constexpr std::size_t kWidth = StreamingRow<Number>::kWidth;
    return (program.columns + kWidth - 1) / kWidth * kWidth;
  }
  void step_groups(Cycle now);
  void split(std::size_t group);
  SweepOutcome outcome();
  FoldPlan fold() const;
  CoreCounters core(std::size_t lane, const LaneCounts& counts, std::uint32_t row,
                    std::uint32_t place) const;
  void add_ring(WaferOutcome& outcome, std::uint32_t row, std::uint32_t place,
                const std::vector<LaneCounts>& counts);
  void count_roles();

  const HardwareParams params_;
  const Program& program_;
  std::vector<RowGroup<Number>> groups_;  // from north to south
  std::uint32_t classes_ = 0;
  LaneInjectors<Number> injectors_;
  const std::vector<Number> all_open_;
  std::vector<std::uint64_t> weights_, words_, filled_, finals_, added_;  // by column
};

/// A cycle of all groups, from north to south, each in its local time. What a row learns of the
/// row below is a hop and a cycle old, so that row's previous cycle tells it. Only the last row of
/// a group has a neighbour that does other things than itself; when that one does not take a copy
/// at once, this row goes its own way from then on.
template <class Number>
void Sweep<Number>::step_groups(Cycle now) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (i != 0) groups_[i].row->arrive(groups_[i - 1].row->copied());
    const bool alone = groups_[i].rows.first == groups_[i].rows.last;
    const bool below = i + 1 < groups_.size();
    const std::vector<Number>* open = below ? &groups_[i + 1].row->north_open() : &all_open_;
    if (below && !alone) {
      if (groups_[i].row->meets_closed(*open)) split(i);
      open = &all_open_;
    }
    groups_[i].row->step(now, *open);
  }
}

/// Takes the last row out of a group.
template <class Number>
void Sweep<Number>::split(std::size_t group) {
  const RowGroup<Number>& whole = groups_[group];
  RowGroup<Number> last{{whole.rows.last, whole.rows.last},
                        std::make_unique<StreamingRow<Number>>(whole.row->follower())};
  --groups_[group].rows.last;
  groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(group) + 1, std::move(last));
}

/// What each column does is known beforehand; only when, is simulated.
template <class Number>
void Sweep<Number>::count_roles() {
  const StreamingKernel& kernel = program_.kernel;
  const std::size_t columns = program_.columns;
  std::vector<std::uint32_t> start(columns);
  for (std::size_t p = 0; p < columns; ++p) start[kernel.ring[p]] = kernel.ring[(p + 1) % columns];
  for (auto* sums : {&weights_, &words_, &filled_, &finals_, &added_}) sums->assign(columns, 0);
  for (std::size_t s = 0; s < kernel.steps; ++s) {
    ++finals_[kernel.final_column[s]];
    for (std::size_t c = 0; c < columns; ++c) {
      const std::uint32_t count = kernel.count(s, c);
      weights_[c] += count;
      words_[c] += kernel.words_of(count);
      filled_[c] += count != 0 ? 1 : 0;
      added_[c] += count != 0 && c != start[kernel.final_column[s]] ? 1 : 0;
    }
  }
}

/// `row` of the wafer is kept in `place` of the small mesh.
template <class Number>
CoreCounters Sweep<Number>::core(std::size_t lane, const LaneCounts& counts, std::uint32_t row,
                                 std::uint32_t place) const {
  const StreamingKernel& kernel = program_.kernel;
  const std::uint32_t c = kernel.ring[lane];
  const std::uint32_t before = kernel.ring[(lane + kernel.ring.size() - 1) % kernel.ring.size()];
  const std::uint64_t tokens = kernel.tokens[row];
  const std::uint64_t words = (tokens + kernel.ring_elements - 1) / kernel.ring_elements;
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  const Cycle behind = Cycle{place} * params_.router.hop;
  CoreCounters core;
  core.cycles[kFma] = weights_[c] * ((tokens + kernel.simd - 1) / kernel.simd);
  core.cycles[kReduce] = kernel.steps * ((words + each - 1) / each);
  core.cycles[kDispatch] = counts.dispatch;
  core.cycles[kWaitWeights] = counts.weights + behind;
  core.cycles[kWaitRingIn] = counts.ring_in;
  core.cycles[kWaitRingOut] = counts.ring_out;
  core.cycles[kWaitBuffer] = counts.buffer;
  core.words = words_[c];
  core.weights = weights_[c];
  core.products = weights_[c] * tokens;
  core.first_weights = core.summed = filled_[c];
  core.commands = core.reductions = kernel.steps;
  core.added = added_[c];
  core.kept = finals_[c];
  core.sent = words * (kernel.steps - finals_[c]);
  core.received = words_[c] + kernel.steps + words * (kernel.steps - finals_[before]);
  core.buffer_blocked = counts.blocked;
  core.buffers_in_use = counts.in_use + behind;
  core.end = counts.end + behind;
  return core;
}

/// The words that each link of the ring carried in a row, and the stalls on their way.
template <class Number>
void Sweep<Number>::add_ring(WaferOutcome& outcome, std::uint32_t row, std::uint32_t place,
                             const std::vector<LaneCounts>& counts) {
  const StreamingKernel& kernel = program_.kernel;
  const std::size_t columns = program_.columns;
  for (std::size_t lane = 0; lane < columns; ++lane) {
    const std::uint32_t to = kernel.ring[lane];
    const std::uint32_t from = kernel.ring[(lane + columns - 1) % columns];
    const auto color = static_cast<std::size_t>(kernel.ring_in[to]);
    const std::uint64_t words = outcome.cores[place * columns + from].sent;
    const Port out = to > from ? kEast : kWest;
    const auto router = [&](std::uint32_t c) -> RouterCounters& {
      return outcome.routers[place * columns + c];
    };
    router(from).sent[out] += words;
    router(from).stalls[color] += counts[lane].stall_out;
    const std::uint32_t hops = std::max(to, from) - std::min(to, from);
    if (hops == 2) {
      const std::uint32_t between = (to + from) / 2;
      router(between).sent[out] += words;
      router(between).stalls[color] += counts[lane].stall_pass;
    }
    router(to).sent[kRamp] += words;
    router(to).stalls[color] += counts[lane].stall_in;
    const auto weights = static_cast<std::size_t>(kernel.weights);
    const std::uint64_t streamed = words_[to] + kernel.steps;
    router(to).sent[kRamp] += streamed;
    router(to).stalls[weights] += counts[lane].stall_weights;
    router(to).closures += counts[lane].closures;
    if (row + 1 != program_.rows) router(to).sent[kSouth] += streamed;
  }
}

/// The rows that are kept: the first of each group, and the wafer's last, which sends nothing on.
template <class Number>
FoldPlan Sweep<Number>::fold() const {
  FoldPlan fold;
  fold.classes = classes_;
  fold.representative.resize(program_.rows);
  for (const RowGroup<Number>& group : groups_) {
    for (std::uint32_t row = group.rows.first; row <= group.rows.last; ++row) {
      if (row == group.rows.first || row + 1 == program_.rows) fold.kept.push_back(row);
      fold.representative[row] = static_cast<std::uint32_t>(fold.kept.size()) - 1;
    }
  }
  return fold;
}

template <class Number>
SweepOutcome Sweep<Number>::outcome() {
  count_roles();
  SweepOutcome swept{fold(), {}, static_cast<std::uint32_t>(groups_.size())};
  WaferOutcome& outcome = swept.kept;
  const std::size_t columns = program_.columns;
  outcome.cores.resize(swept.fold.kept.size() * columns);
  outcome.routers.resize(outcome.cores.size());
  std::size_t group = 0;
  for (std::uint32_t place = 0; place < swept.fold.kept.size(); ++place) {
    while (groups_[group].rows.last < swept.fold.kept[place]) ++group;
    const std::vector<LaneCounts>& counts = groups_[group].row->counts();
    for (std::size_t lane = 0; lane < columns; ++lane) {
      CoreCounters& mine = outcome.cores[place * columns + program_.kernel.ring[lane]];
      mine = core(lane, counts[lane], swept.fold.kept[place], place);
      outcome.cycles = std::max(outcome.cycles, mine.end);
    }
    add_ring(outcome, swept.fold.kept[place], place, counts);
  }
  for (CoreCounters& core : outcome.cores) core.cycles[kDone] = outcome.cycles - core.end;
  outcome.injectors = injectors_.counters(outcome.cycles);
  return swept;
}

/// The largest number that a lane has to hold.
std::uint64_t largest(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  const std::uint32_t tokens = *std::max_element(kernel.tokens.begin(), kernel.tokens.end());
  const std::uint32_t count =
      kernel.counts.empty() ? 0 : *std::max_element(kernel.counts.begin(), kernel.counts.end());
  const std::uint64_t ramp = params.router.ramp;
  const std::uint64_t entries = params.router.entries;
  return std::max<std::uint64_t>(
      {count, (tokens / kernel.simd + 1) * std::uint64_t{kernel.weights_per_word()},
       tokens / kernel.ring_elements + 1, kernel.lookahead, params.core.dispatch,
       params.core.cmd_cycles, params.queue.weights + ramp, params.queue.ring_in + ramp,
       params.queue.ring_out + 2U, program.column_fifo, entries + ramp,
       entries + params.router.hop});
}

bool can_sweep(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  const bool plain_beats = kernel.first_cycles == 1 && kernel.beat_cycles == 1 &&
                           kernel.reduce_cycles == 1 && kernel.stalls == 0 &&
                           kernel.reduce.is_ring() && program.entry == 0 && kernel.held.empty() &&
                           kernel.form != StreamForm::wide;
  return plain_beats && kernel.steps != 0 && program.columns > 1 && program.rows != 0 &&
         kernel.activations.empty() && !program.gradient && params.router.entries >= 2 &&
         params.router.multicast == Multicast::independent &&
         plan_fold(program, params, {}).refused.empty();
}

}  // namespace

std::unique_ptr<StreamingSweep> make_streaming_sweep(const HardwareParams& params,
                                                     const Program& program) {
  if (!can_sweep(params, program)) return nullptr;
  const std::uint64_t most = largest(params, program);
  const std::uint64_t latency = std::max<std::uint64_t>(params.router.ramp, params.router.hop);
  if (most <= 127 && latency <= 6) return std::make_unique<Sweep<std::int8_t>>(params, program);
  if (most <= 32767 && latency <= 14) return std::make_unique<Sweep<std::int16_t>>(params, program);
  return nullptr;
}

namespace {

/// A sweep as a block of a clock domain: it looks ahead to the end of the run at once.
class SweepBlock final : public Clocked {
 public:
  SweepBlock(StreamingSweep& sweep, ClockDomain& clock) : sweep_(sweep), clock_(clock) {}

  Cycle step(Cycle now) override {
    if (!outcome_) outcome_ = sweep_.run();
    clock_.stop(outcome_ ? outcome_->kept.cycles - 1 : now);
    if (outcome_) clock_.moved(outcome_->kept.cycles - 1);
    return kNever;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // the outcome accounts for every cycle

  std::optional<SweepOutcome>& outcome() { return outcome_; }

 private:
  StreamingSweep& sweep_;
  ClockDomain& clock_;
  std::optional<SweepOutcome> outcome_;
};

}  // namespace

std::optional<SweepOutcome> sweep(const HardwareParams& params, const Program& program,
                                  const RunOptions& options) {
  const bool plain = options.jitter == 0 && !options.event_log && !options.modules && !options.look;
  if (options.engine != Engine::event || !plain) return {};
  const std::unique_ptr<StreamingSweep> sweep = make_streaming_sweep(params, program);
  if (sweep == nullptr) return {};
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  SweepBlock block(*sweep, clock);
  clock.add(block, "wafer");
  clock.run_until_done();
  return std::move(block.outcome());
}

}  // namespace lacuna::wse

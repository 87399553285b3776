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

namespace lacuna::wse {
namespace {

/// The link from the last row of a class to the first of the next, as its sender sees it.
template <class Number>
class ClassLink {
 public:
  ClassLink(const RouterParams& params, std::size_t lanes)
      : capacity_(static_cast<Number>(params.entries + params.hop - 1)),
        left_bit_(static_cast<Number>(1U << params.hop)),
        held_(lanes, 0),
        leaving_(lanes, 0) {}

  /// A cycle: `copied` are the words sent, `taken` those the receiver lets go. False if a word
  /// should have been sent over a closed link.
  bool step(const std::vector<Number>& copied, const std::vector<Number>& taken) {
    Number closed = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const auto held = static_cast<Number>(held_[i] - (leaving_[i] & 1));
      closed = static_cast<Number>(closed | (copied[i] & (held >= capacity_ ? -1 : 0)));
      held_[i] = static_cast<Number>(held - copied[i]);
      leaving_[i] = static_cast<Number>((leaving_[i] >> 1) | (taken[i] & left_bit_));
    }
    return closed == 0;
  }

 private:
  Number capacity_;
  Number left_bit_;
  std::vector<Number> held_;
  std::vector<Number> leaving_;
};

/// Neighbouring rows with equal tokens.
struct RowClass {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
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
        classes_(classes_of(program.kernel.tokens)),
        injectors_(program, lanes(program)) {
    for (const RowClass& rows : classes_) {
      rows_.emplace_back(params, program.kernel, program.kernel.tokens[rows.first]);
    }
    links_.assign(classes_.size() - 1, ClassLink<Number>(params.router, rows_[0].open().size()));
  }

  std::optional<WaferOutcome> run() override {
    Cycle last_move = 0;
    for (Cycle now = 0;; ++now) {
      bool moved = injectors_.moved();
      bool finished = true;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const bool below = i + 1 < rows_.size();
        if (i != 0) rows_[i].arrive(rows_[i - 1].copied());
        rows_[i].step(now, below || i != 0);
        if (i != 0 && !links_[i - 1].step(rows_[i - 1].copied(), rows_[i].taken())) return {};
        moved = moved || rows_[i].moved();
        finished = finished && rows_[i].finished();
      }
      if (finished) return outcome();
      rows_[0].arrive(injectors_.step(now, rows_[0].open()));
      if (moved) last_move = now;
      if (now - last_move > ClockDomain::kWatchdog) return {};
    }
  }

 private:
  static std::size_t lanes(const Program& program) {
    constexpr std::size_t kWidth = StreamingRow<Number>::kWidth;
    return (program.columns + kWidth - 1) / kWidth * kWidth;
  }
  WaferOutcome outcome();
  CoreCounters core(std::size_t lane, const LaneCounts& lane_counts, std::uint32_t row) const;
  void add_ring(WaferOutcome& outcome, std::uint32_t row, const std::vector<LaneCounts>& counts);
  void count_roles();

  const HardwareParams params_;
  const Program& program_;
  std::vector<RowClass> classes_;
  std::vector<StreamingRow<Number>> rows_;
  std::vector<ClassLink<Number>> links_;
  LaneInjectors<Number> injectors_;
  std::vector<std::uint64_t> weights_, words_, filled_, finals_, added_;  // by column
};

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

template <class Number>
CoreCounters Sweep<Number>::core(std::size_t lane, const LaneCounts& counts,
                                 std::uint32_t row) const {
  const StreamingKernel& kernel = program_.kernel;
  const std::uint32_t c = kernel.ring[lane];
  const std::uint32_t before = kernel.ring[(lane + kernel.ring.size() - 1) % kernel.ring.size()];
  const std::uint64_t tokens = kernel.tokens[row];
  const std::uint64_t words = (tokens + kernel.ring_elements - 1) / kernel.ring_elements;
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  const Cycle behind = Cycle{row} * params_.router.hop;
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
void Sweep<Number>::add_ring(WaferOutcome& outcome, std::uint32_t row,
                             const std::vector<LaneCounts>& counts) {
  const StreamingKernel& kernel = program_.kernel;
  const std::size_t columns = program_.columns;
  for (std::size_t lane = 0; lane < columns; ++lane) {
    const std::uint32_t to = kernel.ring[lane];
    const std::uint32_t from = kernel.ring[(lane + columns - 1) % columns];
    const auto color = static_cast<std::size_t>(kernel.ring_in[to]);
    const std::uint64_t words = outcome.cores[row * columns + from].sent;
    const Port out = to > from ? kEast : kWest;
    const auto router = [&](std::uint32_t c) -> RouterCounters& {
      return outcome.routers[row * columns + c];
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
    if (row + 1 != program_.rows) router(to).sent[kSouth] += streamed;
  }
}

template <class Number>
WaferOutcome Sweep<Number>::outcome() {
  count_roles();
  WaferOutcome outcome;
  const std::size_t columns = program_.columns;
  outcome.cores.resize(std::size_t{program_.rows} * columns);
  outcome.routers.resize(outcome.cores.size());
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const std::vector<LaneCounts>& counts = rows_[i].counts();
    for (std::uint32_t row = classes_[i].first; row <= classes_[i].last; ++row) {
      for (std::size_t lane = 0; lane < columns; ++lane) {
        CoreCounters& mine = outcome.cores[row * columns + program_.kernel.ring[lane]];
        mine = core(lane, counts[lane], row);
        outcome.cycles = std::max(outcome.cycles, mine.end);
      }
      add_ring(outcome, row, counts);
    }
  }
  for (CoreCounters& core : outcome.cores) core.cycles[kDone] = outcome.cycles - core.end;
  outcome.injectors = injectors_.counters(outcome.cycles);
  return outcome;
}

/// The largest number that a lane has to hold.
std::uint64_t largest(const HardwareParams& params, const StreamingKernel& kernel) {
  const std::uint32_t tokens = *std::max_element(kernel.tokens.begin(), kernel.tokens.end());
  const std::uint32_t count =
      kernel.counts.empty() ? 0 : *std::max_element(kernel.counts.begin(), kernel.counts.end());
  const std::uint64_t ramp = params.router.ramp;
  const std::uint64_t entries = params.router.entries;
  return std::max<std::uint64_t>(
      {count, (tokens / kernel.simd + 1) * std::uint64_t{kernel.weights_per_word()},
       tokens / kernel.ring_elements + 1, kernel.lookahead, params.core.dispatch,
       params.core.cmd_cycles, params.queue.weights + ramp, params.queue.ring_in + ramp,
       params.queue.ring_out + 2U, entries + ramp, entries + params.router.hop});
}

bool can_sweep(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  const bool plain_beats = kernel.first_cycles == 1 && kernel.beat_cycles == 1 &&
                           kernel.reduce_cycles == 1 && kernel.stalls == 0 && kernel.held.empty() &&
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
  const std::uint64_t most = largest(params, program.kernel);
  const std::uint64_t latency = std::max<std::uint64_t>(params.router.ramp, params.router.hop);
  if (most <= 127 && latency <= 6) return std::make_unique<Sweep<std::int8_t>>(params, program);
  if (most <= 32767 && latency <= 14) return std::make_unique<Sweep<std::int16_t>>(params, program);
  return nullptr;
}

}  // namespace lacuna::wse

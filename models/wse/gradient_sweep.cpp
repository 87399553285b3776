// SPDX-License-Identifier: Apache-2.0
#include "models/wse/gradient_sweep.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/gradient_row.hpp"
#include "models/wse/lane_injectors.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {
namespace {

/// What a column does in every row, known before the run.
struct ColumnWork {
  std::uint64_t weights = 0;
  std::uint64_t owned = 0;   // rows of dY
  std::uint64_t passed = 0;  // rows of dY that it sends on
};

template <class Number>
class Sweep final : public GradientSweep {
 public:
  Sweep(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        shared_(params, program),
        injectors_(program, lanes(program)),
        exit_cap_((2 * std::uint64_t{program.columns} + 2) * program.rate.per),
        edge_(lanes(program) / kWidth),
        work_(program.columns) {
    rows_.reserve(program.rows);
    for (std::uint32_t r = 0; r < program.rows; ++r) rows_.emplace_back(shared_, r);
    count_work();
  }

  std::optional<WaferOutcome> run() override {
    Cycle last_move = 0;
    for (Cycle now = 0;; ++now) {
      bool moved = injectors_.moved();
      bool finished = true;
      arrive_at_edge();
      for (std::size_t r = rows_.size(); r-- != 0;) {
        rows_[r].step(now, r + 1 == rows_.size() ? edge_ : rows_[r + 1].entries());
        moved = moved || rows_[r].moved();
        finished = finished && rows_[r].finished();
      }
      injectors_.refill();
      exit_tokens_ = std::min(exit_cap_, exit_tokens_ + program_.rate.words);
      moved = take_exits(now) || moved;
      if (finished && expected_ == 0) return outcome(now + 1);
      rows_[0].arrive(injectors_.send_words(now, rows_[0].open()));
      if (moved) last_move = now;
      if (now - last_move > ClockDomain::kWatchdog) return {};
    }
  }

 private:
  static constexpr unsigned kWidth = GradientRow<Number>::kWidth;

  static std::size_t lanes(const Program& program) {
    return (program.columns + kWidth - 1) / kWidth * kWidth;
  }
  void count_work();
  void arrive_at_edge();
  bool take_exits(Cycle now);
  WaferOutcome outcome(Cycle cycles);
  CoreCounters core(std::size_t lane, const GradientLaneCounts& counts, std::uint32_t row,
                    Cycle cycles) const;
  void add_routers(WaferOutcome& outcome, std::uint32_t row,
                   const std::vector<GradientLaneCounts>& counts) const;

  const HardwareParams params_;
  const Program& program_;
  const GradientLanes shared_;
  LaneInjectors<Number> injectors_;
  std::uint64_t exit_tokens_ = 0;
  std::uint64_t exit_cap_;
  std::vector<GradientRow<Number>> rows_;
  std::vector<GradientEntry<Number>> edge_;
  std::vector<ColumnWork> work_;
  std::uint64_t expected_ = 0;  // dot products that have not left yet
};

template <class Number>
void Sweep<Number>::count_work() {
  const StreamingKernel& kernel = program_.kernel;
  std::vector<std::uint32_t> next(program_.columns);
  for (std::size_t p = 0; p < next.size(); ++p) {
    next[kernel.ring[p]] = kernel.ring[(p + 1) % next.size()];
  }
  for (std::size_t s = 0; s < kernel.steps; ++s) ++work_[kernel.final_column[s]].owned;
  for (std::size_t c = 0; c < work_.size(); ++c) {
    for (std::size_t s = 0; s < kernel.steps; ++s) work_[c].weights += kernel.count(s, c);
    work_[c].passed = kernel.steps - work_[next[c]].owned;
    expected_ += work_[c].weights;
  }
  for (auto& entry : edge_) entry = GradientEntry<Number>{};
}

template <class Number>
void Sweep<Number>::arrive_at_edge() {
  for (GradientEntry<Number>& entry : edge_) {
    entry.chain_seen += entry.chain_flight & (Lanes<Number>{} + Number{1});
    entry.chain_flight >>= 1;
  }
}

/// One word of each column that has one, from column (cycle mod columns) on, while there are
/// tokens.
template <class Number>
bool Sweep<Number>::take_exits(Cycle now) {
  bool taken = false;
  const std::size_t columns = program_.columns;
  bool any_there = false;
  for (const GradientEntry<Number>& entry : edge_) any_there = any_there || any(entry.chain_seen);
  if (!any_there) return false;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t lane = LaneInjectors<Number>::lane_of((now + i) % columns, columns);
    GradientEntry<Number>& entry = edge_[lane / kWidth];
    const std::size_t at = lane % kWidth;
    if (entry.chain_seen[at] == 0) continue;
    if (program_.full_duplex) {
      if (exit_tokens_ < program_.rate.per) break;
      exit_tokens_ -= program_.rate.per;
    } else if (!injectors_.pay()) {
      break;
    }
    entry.chain_seen[at] = static_cast<Number>(entry.chain_seen[at] - 1);
    entry.chain_count[at] = static_cast<Number>(entry.chain_count[at] - 1);
    --expected_;
    taken = true;
  }
  return taken;
}

template <class Number>
CoreCounters Sweep<Number>::core(std::size_t lane, const GradientLaneCounts& counts,
                                 std::uint32_t row, Cycle cycles) const {
  const StreamingKernel& kernel = program_.kernel;
  const ColumnWork& work = work_[kernel.ring[lane]];
  const std::uint64_t tokens = kernel.tokens[row];
  const std::uint64_t words = (tokens + kernel.ring_elements - 1) / kernel.ring_elements;
  const std::uint64_t each = params_.core.fabric_words_per_issue;
  const std::uint64_t beats = (words + each - 1) / each;
  const std::uint64_t others = kernel.steps - work.owned;
  CoreCounters core;
  core.cycles[kFma] = work.weights * ((tokens + kernel.simd - 1) / kernel.simd);
  core.cycles[kReduce] = (others + work.passed) * beats + work.weights;
  core.cycles[kDispatch] = counts.dispatch;
  core.cycles[kWaitWeights] = counts.weights;
  core.cycles[kWaitRingIn] = counts.ring_in;
  core.cycles[kWaitRingOut] = counts.ring_out;
  core.cycles[kWaitBuffer] = counts.buffer;
  core.cycles[kDone] = cycles;
  for (unsigned kind = 0; kind < kDone; ++kind) core.cycles[kDone] -= core.cycles[kind];
  core.words = core.weights = core.reductions = work.weights;
  core.products = work.weights * tokens;
  core.commands = kernel.steps;
  core.added = row == 0 ? 0 : work.weights;
  core.kept = others * words;
  core.summed = work.passed * words;
  core.sent = core.summed + work.weights;
  core.received = work.weights + kernel.steps + core.kept + core.added;
  core.buffers_in_use = counts.in_use;
  core.end = counts.end;
  return core;
}

/// The words that each link of a row of routers carried, and the stalls on their way.
template <class Number>
void Sweep<Number>::add_routers(WaferOutcome& outcome, std::uint32_t row,
                                const std::vector<GradientLaneCounts>& counts) const {
  const StreamingKernel& kernel = program_.kernel;
  const std::size_t columns = program_.columns;
  const auto& down = program_.gradient->down;
  const auto weights = static_cast<std::size_t>(kernel.weights);
  const auto router = [&](std::uint32_t c) -> RouterCounters& {
    return outcome.routers[row * columns + c];
  };
  for (std::size_t lane = 0; lane < columns; ++lane) {
    const std::uint32_t to = kernel.ring[lane];
    const std::size_t sender = (lane + columns - 1) % columns;
    const std::uint32_t from = kernel.ring[sender];
    const auto color = static_cast<std::size_t>(kernel.ring_in[to]);
    const std::uint64_t words = outcome.cores[row * columns + from].summed;
    const Port out = to > from ? kEast : kWest;
    router(from).sent[out] += words;
    router(from).stalls[color] += counts[sender].stall_out;
    if (std::max(to, from) - std::min(to, from) == 2) {
      router((to + from) / 2).sent[out] += words;
      router((to + from) / 2).stalls[color] += counts[lane].stall_pass;
    }
    RouterCounters& mine = router(to);
    const CoreCounters& core = outcome.cores[row * columns + to];
    const std::uint64_t streamed = core.words + core.commands;
    mine.sent[kRamp] += words + streamed + core.added;
    mine.sent[kSouth] += core.reductions + (row + 1 == program_.rows ? 0 : streamed);
    mine.stalls[color] += counts[lane].stall_ring;
    mine.stalls[weights] += counts[lane].stall_weights;
    mine.stalls[static_cast<std::size_t>(down[(row + 1) % 2])] += counts[lane].stall_north;
    mine.stalls[static_cast<std::size_t>(down[row % 2])] += counts[lane].stall_south;
    mine.closures += counts[lane].closures;
  }
}

template <class Number>
WaferOutcome Sweep<Number>::outcome(Cycle cycles) {
  WaferOutcome outcome;
  outcome.cycles = cycles;
  const std::size_t columns = program_.columns;
  outcome.cores.resize(std::size_t{program_.rows} * columns);
  outcome.routers.resize(outcome.cores.size());
  for (std::uint32_t row = 0; row < program_.rows; ++row) {
    const std::vector<GradientLaneCounts>& counts = rows_[row].counts();
    for (std::size_t lane = 0; lane < columns; ++lane) {
      outcome.cores[row * columns + program_.kernel.ring[lane]] =
          core(lane, counts[lane], row, cycles);
    }
    add_routers(outcome, row, counts);
  }
  outcome.injectors = injectors_.counters(cycles);
  for (const ColumnWork& work : work_) outcome.collected.emplace_back(work.weights, 0U);
  return outcome;
}

/// The largest number that a lane has to hold.
std::uint64_t largest(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  const std::uint32_t tokens = *std::max_element(kernel.tokens.begin(), kernel.tokens.end());
  const std::uint32_t count =
      kernel.counts.empty() ? 0 : *std::max_element(kernel.counts.begin(), kernel.counts.end());
  std::vector<std::uint64_t> owned(program.columns, 0);
  for (const std::uint32_t column : kernel.final_column) ++owned[column];
  const std::uint64_t ramp = params.router.ramp;
  const std::uint64_t entries = params.router.entries;
  return std::max<std::uint64_t>(
      {count, tokens / kernel.simd + 1U, tokens / kernel.ring_elements + 2U,
       kernel.lookahead + *std::max_element(owned.begin(), owned.end()) + 2,
       program.gradient->results, params.core.dispatch, params.core.cmd_cycles,
       params.queue.weights + ramp, params.queue.ring_in + ramp, params.queue.ring_out + 2U,
       program.column_fifo, entries + ramp, entries + params.router.hop});
}

bool can_sweep(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  return program.gradient && program.gradient->dot_cycles == 1 &&
         program.gradient->move_cycles == 1 && program.gradient->gradients.empty() &&
         kernel.steps != 0 && program.columns > 1 && program.rows != 0 && program.collects &&
         program.background.empty() && program.inlets.empty() &&
         params.router.multicast == Multicast::independent &&
         params.router.arbiter != Arbiter::oldest && params.core.init_cycles == 0;
}

}  // namespace

std::unique_ptr<GradientSweep> make_gradient_sweep(const HardwareParams& params,
                                                   const Program& program) {
  if (!can_sweep(params, program)) return nullptr;
  const std::uint64_t most = largest(params, program);
  const std::uint64_t latency = std::max<std::uint64_t>(params.router.ramp, params.router.hop);
  if (most <= 127 && latency <= 7) return std::make_unique<Sweep<std::int8_t>>(params, program);
  if (most <= 32767 && latency <= 15) return std::make_unique<Sweep<std::int16_t>>(params, program);
  return nullptr;
}

std::optional<WaferOutcome> sweep_gradient(const HardwareParams& params, const Program& program,
                                           const RunOptions& options) {
  const bool plain = options.jitter == 0 && !options.event_log && !options.modules;
  if (options.engine != Engine::event || !plain) return {};
  const std::unique_ptr<GradientSweep> sweep = make_gradient_sweep(params, program);
  return sweep == nullptr ? std::nullopt : sweep->run();
}

}  // namespace lacuna::wse

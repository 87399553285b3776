// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_sweep.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/edge/lane_injectors.hpp"
#include "models/wse/engine/gradient_drain.hpp"
#include "models/wse/engine/gradient_fold.hpp"
#include "models/wse/engine/gradient_outcome.hpp"
#include "models/wse/engine/gradient_row.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {
namespace {

template <class Number>
class Sweep final : public GradientSweep {
 public:
  Sweep(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        shared_(params, program),
        injectors_(params.router, program),
        edge_(whole_blocks<Number>(program.columns) / kWidth),
        outcome_(params, program),
        expected_(outcome_.expected()) {
    rows_.reserve(program.rows);
    for (std::uint32_t r = 0; r < program.rows; ++r) rows_.emplace_back(shared_, r);
    for (auto& entry : edge_) entry = GradientEntry<Number>{};
  }

  WaferOutcome run() override {
    Cycle last_move = 0;
    for (Cycle now = 0;; ++now) {
      bool moved = injectors_.moved();
      std::size_t pending = 0;
      arrive_at_edge();
      for (std::size_t r = rows_.size(); r-- != 0;) {
        rows_[r].step(now, r + 1 == rows_.size() ? edge_ : rows_[r + 1].entries());
        moved = moved || rows_[r].moved();
        pending += rows_[r].finished() ? 0 : 1;
      }
      injectors_.tokens().fill();
      moved = take_exits(now) || moved;
      if (pending == 0 && expected_ == 0) return outcome(now + 1);
      rows_[0].arrive(injectors_.send_words(now, rows_[0].open()));
      if (moved) last_move = now;
      if (now - last_move > ClockDomain::kWatchdog) {
        throw DeadlockError(injectors_.deadlock(last_move, pending, rows_.size()));
      }
    }
  }

 private:
  static constexpr unsigned kWidth = GradientRow<Number>::kWidth;

  void arrive_at_edge();
  bool take_exits(Cycle now);
  WaferOutcome outcome(Cycle cycles);

  const HardwareParams params_;
  const Program& program_;
  const GradientLanes shared_;
  LaneInjectors<Number> injectors_;
  std::vector<GradientRow<Number>> rows_;
  std::vector<GradientEntry<Number>> edge_;
  GradientOutcome outcome_;
  std::uint64_t expected_;  // dot products that have not left yet
};

template <class Number>
void Sweep<Number>::arrive_at_edge() {
  for (GradientEntry<Number>& entry : edge_) entry.chain.begin_cycle();
}

/// One word of each column that has one, from column (cycle mod columns) on, while there are
/// tokens.
template <class Number>
bool Sweep<Number>::take_exits(Cycle now) {
  bool taken = false;
  const std::size_t columns = program_.columns;
  bool any_there = false;
  for (const GradientEntry<Number>& entry : edge_) any_there = any_there || any(entry.chain.seen);
  if (!any_there) return false;
  ask_in_turn(now, columns, [&](std::size_t lane) {
    GradientEntry<Number>& entry = edge_[lane / kWidth];
    const std::size_t at = lane % kWidth;
    if (entry.chain.seen[at] == 0) return true;
    if (!injectors_.tokens().buy_exit()) return false;
    entry.chain.pop_lane(at);
    --expected_;
    taken = true;
    return true;
  });
  return taken;
}

template <class Number>
WaferOutcome Sweep<Number>::outcome(Cycle cycles) {
  for (std::uint32_t row = 0; row < program_.rows; ++row) {
    outcome_.add_row(row, rows_[row].counts(), cycles);
  }
  return outcome_.finish(injectors_.counters(cycles), cycles);
}

/// The largest number that a lane has to hold, dot products apart.
std::uint64_t largest(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  const std::uint32_t tokens = *std::max_element(kernel.tokens.begin(), kernel.tokens.end());
  const std::uint32_t count =
      kernel.counts.empty() ? 0 : *std::max_element(kernel.counts.begin(), kernel.counts.end());
  std::vector<std::uint64_t> owned(program.columns, 0);
  for (const std::uint32_t column : kernel.final_column) ++owned[column];
  const QueueShapes shapes(params.router);
  const QueueParams& queue = params.queue;
  const Dispatch dispatch(params.core);
  return std::max<std::uint64_t>(
      {count, tokens / kernel.simd + 1U, tokens / kernel.ring_elements + 2U,
       kernel.lookahead + *std::max_element(owned.begin(), owned.end()) + 2, dispatch.delay(false),
       dispatch.delay(true), shapes.ramp_down(queue.stream()).capacity + 1U,
       shapes.ramp_down(queue.sums_in()).capacity + 1U,
       QueueShapes::output(queue.sums_out()).capacity + 2U, program.column_fifo,
       shapes.ramp_up().capacity + 1U, shapes.link().capacity + 1U});
}

/// Why a row of cores cannot be stepped as a whole.
std::string reason_not_to_sweep(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  if (!program.gradient->gradients.empty()) return "each row carries values of its own";
  if (program.gradient->dot_cycles != 1 || program.gradient->move_cycles != 1) {
    return "a beat takes several cycles of the memory";
  }
  if (program.spread_rows != 0) return "routers copy the stream to the groups (ws.copies = routed)";
  std::string routers = reason_against_lanes(params.router);
  if (!routers.empty()) return routers;
  if (params.core.init_cycles != 0) return "cores begin at a cycle, not with their first word";
  const bool plain = program.collects && program.background.empty() && program.inlets.empty();
  if (!plain || kernel.steps == 0 || program.columns < 2 * kernel.groups.count ||
      program.rows == 0) {
    return "there is no ring, or other words run down the columns";
  }
  return "";
}

bool can_sweep(const HardwareParams& params, const Program& program) {
  return program.gradient && reason_not_to_sweep(params, program).empty();
}

}  // namespace

std::unique_ptr<GradientSweep> make_gradient_sweep(const HardwareParams& params,
                                                   const Program& program) {
  if (!can_sweep(params, program)) return nullptr;
  const std::uint64_t most =
      std::max<std::uint64_t>(largest(params, program), program.gradient->results);
  const std::uint64_t latency = QueueShapes(params.router).longest();
  if (most <= 127 && latency <= 7) return std::make_unique<Sweep<std::int8_t>>(params, program);
  if (most <= 32767 && latency <= 15) return std::make_unique<Sweep<std::int16_t>>(params, program);
  return nullptr;
}

std::optional<SweptGradient> fold_gradient(const HardwareParams& params, const Program& program) {
  if (!program.gradient || !reason_not_to_fold_gradient(params, program, {Engine::event}).empty()) {
    return {};
  }
  const std::uint64_t most = largest(params, program);
  const std::uint64_t latency = QueueShapes(params.router).longest();
  if (most <= 127 && latency <= 6) return fold_gradient_as<std::int8_t>(params, program);
  if (most <= 32767 && latency <= 14) return fold_gradient_as<std::int16_t>(params, program);
  return {};
}

std::string reason_not_to_fold_gradient(const HardwareParams& params, const Program& program,
                                        const RunOptions& options) {
  if (options.modules) return "each core is a module";
  if (options.engine != Engine::event) return "the clocked engine is the definition";
  if (options.event_log) return "the event log names every unit";
  if (options.jitter != 0) return "delays of single words differ from row to row";
  std::string reason = reason_not_to_sweep(params, program);
  if (!reason.empty()) return reason;
  if (!program.gradient->kept) {
    return "the chain comes to each row at another time of its stream (ws.gradient = chained)";
  }
  if (!program.gradient->begins_with_stream) {
    return "cores begin in cycle 0, not with their first word (io.stream = row_ordered)";
  }
  if (LinkRule(params.router).acts())
    return "links are shut after so many words (router.link_words)";
  if (!QueueShapes(params.router).flows()) return "words stop in every router (router.entries = 1)";
  if (!GradientDrain::flows(params))
    return "words stop at every core (queue.in: number 3 holds one)";
  return "";
}

std::optional<SweptGradient> sweep_gradient(const HardwareParams& params, const Program& program,
                                            const RunOptions& options) {
  const bool plain = options.jitter == 0 && !options.event_log && !options.modules;
  if (options.engine != Engine::event || !plain) return {};
  if (std::optional<SweptGradient> folded = fold_gradient(params, program)) return folded;
  const std::unique_ptr<GradientSweep> sweep = make_gradient_sweep(params, program);
  if (sweep == nullptr) return {};
  return SweptGradient{sweep->run(), 0};
}

}  // namespace lacuna::wse

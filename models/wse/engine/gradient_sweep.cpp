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
#include "models/wse/engine/lane_numbers.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {
namespace {

template <class Number>
class Sweep {
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

  WaferOutcome run() {
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
  std::vector<std::uint64_t> owned(program.columns, 0);
  for (const std::uint32_t column : program.kernel.final_column) ++owned[column];
  const std::uint64_t vectors =
      program.kernel.lookahead + *std::max_element(owned.begin(), owned.end()) + 2;
  return std::max(vectors, largest_in_lanes(params, program));
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

}  // namespace

std::optional<WaferOutcome> run_gradient_rows(const HardwareParams& params,
                                              const Program& program) {
  if (!program.gradient || !reason_not_to_sweep(params, program).empty()) return {};
  const std::uint64_t most =
      std::max<std::uint64_t>(largest(params, program), program.gradient->results);
  const auto run = [&](auto number) -> std::optional<WaferOutcome> {
    return Sweep<decltype(number)>(params, program).run();
  };
  // Rows that are not folded need no bit for a word that has left.
  return in_lanes(most, QueueShapes(params.router).longest() - 1, run);
}

std::optional<SweptGradient> fold_gradient(const HardwareParams& params, const Program& program) {
  if (!program.gradient || !reason_not_to_fold_gradient(params, program, {Engine::event}).empty()) {
    return {};
  }
  return in_lanes(largest(params, program), QueueShapes(params.router).longest(),
                  [&](auto number) { return fold_gradient_as<decltype(number)>(params, program); });
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
  std::optional<WaferOutcome> swept = run_gradient_rows(params, program);
  if (!swept) return {};
  return SweptGradient{std::move(*swept), 0};
}

}  // namespace lacuna::wse

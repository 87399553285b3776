// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_fold.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "models/wse/edge/lane_injectors.hpp"
#include "models/wse/engine/gradient_drain.hpp"
#include "models/wse/engine/gradient_outcome.hpp"
#include "models/wse/engine/gradient_row.hpp"
#include "models/wse/engine/row_groups.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {
namespace {

template <class Number>
class Fold {
 public:
  Fold(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        shared_(params, program),
        injectors_(params.router, program),
        outcome_(params, program),
        drain_(shared_, words()) {
    const std::vector<std::uint32_t> all = rows_from(0, program.rows, false);
    for (const RowClass& rows : classes_of(program.kernel.tokens, all, true)) {
      groups_.push_back({rows, std::make_unique<Row>(shared_, rows.first)});
      groups_.back().row->leave_out_chain();
    }
  }

  std::optional<SweptGradient> run() {
    const Cycle left = to_the_end();
    if (!rows_are_ready()) return {};
    return result(left);
  }

 private:
  using Row = GradientRow<Number>;

  std::vector<std::uint64_t> words() const;
  Cycle hop() const { return QueueShapes(params_.router).link().latency; }
  Cycle to_the_end();
  bool take_exits(Cycle now);
  void step_groups(Cycle now);
  bool rows_are_ready() const;
  std::vector<GradientLaneCounts> counts_of(const RowGroup<Row>& group, std::uint32_t row) const;
  SweptGradient result(Cycle left);

  const HardwareParams params_;
  const Program& program_;
  const GradientLanes shared_;
  RowGroups<Row> groups_;  // from north to south
  LaneInjectors<Number> injectors_;
  GradientOutcome outcome_;
  GradientDrain drain_;
};

template <class Number>
std::vector<std::uint64_t> Fold<Number>::words() const {
  std::vector<std::uint64_t> words;
  for (std::size_t lane = 0; lane < program_.columns; ++lane) {
    words.push_back(outcome_.positions(lane));
  }
  return words;
}

/// Returns the cycle after the last word left. Throws DeadlockError.
template <class Number>
Cycle Fold<Number>::to_the_end() {
  Cycle last_move = 0;
  Cycle left = 0;
  std::size_t begun = 0;
  for (Cycle now = 0;; ++now) {
    step_groups(now);
    bool moved = injectors_.moved();
    std::size_t pending = 0;
    for (const auto& group : groups_) {
      moved = moved || group.row->moved();
      pending += group.row->finished() ? 0 : group.rows.count();
    }
    Row& top = *groups_.front().row;
    for (; begun != top.ready().size(); ++begun) drain_.begin(top.ready()[begun], now);
    injectors_.tokens().fill();
    if (take_exits(now)) {
      moved = true;
      left = now + 1;
    }
    if (pending == 0 && drain_.inside() == 0) return left;
    top.arrive(injectors_.send_words(now, top.open()));
    if (moved) last_move = now;
    if (now - last_move > ClockDomain::kWatchdog) {
      throw DeadlockError(injectors_.deadlock(last_move, pending, program_.rows));
    }
  }
}

template <class Number>
bool Fold<Number>::take_exits(Cycle now) {
  return drain_.leave(now, [&] { return injectors_.tokens().buy_exit(); });
}

/// A cycle of all groups, from north to south, each in its local time, the cycle less the hops
/// above; see StreamingSweep. The row below tells in its previous cycle what can be sent to it.
template <class Number>
void Fold<Number>::step_groups(Cycle now) {
  bool above = false;  // whether the group above has performed this cycle
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (above) groups_[i].row->arrive(groups_[i - 1].row->copied());
    above = !groups_[i].row->finished() || !groups_[i].row->copied_in_time();
    if (!above) continue;
    const bool alone = groups_[i].rows.count() == 1;
    const std::vector<Number>* open = nullptr;
    if (i + 1 < groups_.size()) {
      open = &groups_[i + 1].row->north_open();
      if (!alone) {
        if (groups_[i].row->meets_closed(*open)) split_last(groups_, i);
        open = nullptr;
      }
    }
    groups_[i].row->step(now, open);
  }
}

/// True if in no row the first word of the chain has to wait for the core. Below the first row of a
/// group the chain comes later still.
template <class Number>
bool Fold<Number>::rows_are_ready() const {
  const std::vector<GradientLaneCounts> top = groups_.front().row->counts();
  for (const auto& group : groups_) {
    if (!group.row->copied_in_time()) return false;
    const std::vector<GradientLaneCounts>& counts = group.row->counts();
    const Cycle later = group.rows.first * (GradientDrain::latency(params_) - hop());
    for (std::size_t lane = 0; lane < counts.size(); ++lane) {
      const bool chains = outcome_.positions(lane) != 0;
      if (chains && counts[lane].streamed > top[lane].streamed + later) return false;
    }
  }
  return true;
}

/// What a row counted when its chain could begin, in cycles of the wafer.
template <class Number>
std::vector<GradientLaneCounts> Fold<Number>::counts_of(const RowGroup<Row>& group,
                                                        std::uint32_t row) const {
  std::vector<GradientLaneCounts> counts = group.row->counts();
  const Cycle behind = Cycle{row} * hop();
  for (GradientLaneCounts& lane : counts) {
    lane.weights += behind;
    lane.streamed += behind;
    lane.end += behind;
  }
  return counts;
}

template <class Number>
SweptGradient Fold<Number>::result(Cycle left) {
  std::vector<std::vector<GradientLaneCounts>> rows;
  Cycle cycles = left;
  const auto each_row = [&](const auto& visit) {
    for (const auto& group : groups_) {
      for (std::uint32_t row = group.rows.first; row <= group.rows.last; ++row) {
        std::vector<GradientLaneCounts> counts = counts_of(group, row);
        drain_.add_to(row, counts);
        visit(row, counts);
      }
    }
  };
  each_row([&](std::uint32_t /*row*/, const auto& counts) {
    for (const GradientLaneCounts& lane : counts) cycles = std::max(cycles, lane.end);
  });
  each_row([&](std::uint32_t row, const auto& counts) { outcome_.add_row(row, counts, cycles); });
  SweptGradient swept;
  swept.streamed = static_cast<std::uint32_t>(groups_.size());
  swept.outcome = outcome_.finish(injectors_.counters(cycles), cycles);
  return swept;
}

}  // namespace

template <class Number>
std::optional<SweptGradient> fold_gradient_as(const HardwareParams& params,
                                              const Program& program) {
  return Fold<Number>(params, program).run();
}

template std::optional<SweptGradient> fold_gradient_as<std::int8_t>(const HardwareParams& params,
                                                                    const Program& program);
template std::optional<SweptGradient> fold_gradient_as<std::int16_t>(const HardwareParams& params,
                                                                     const Program& program);

}  // namespace lacuna::wse

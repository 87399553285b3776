// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/engine/dot_product_row.hpp"
#include "models/wse/engine/gradient_drain.hpp"
#include "models/wse/engine/gradient_outcome.hpp"
#include "models/wse/engine/lane_width.hpp"
#include "models/wse/engine/rows_in_lanes.hpp"
#include "models/wse/fabric/lane_limits.hpp"
#include "models/wse/fabric/queue.hpp"

namespace lacuna::wse {
namespace {

template <class Number>
class Fold {
 public:
  Fold(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        rows_(params, program, true),
        outcome_(params, program),
        drain_(params, program, outcome_.positions()) {}

  std::optional<GradientInLanes> run() {
    std::size_t begun = 0;
    Cycle left_at = 0;  // when the last word left, and a cycle
    const auto ends = [&](Cycle now, std::size_t left, bool& moved) {
      const std::vector<std::uint32_t>& ready = rows_.top().ready();
      for (; begun != ready.size(); ++begun) drain_.begin(ready[begun], now);
      if (drain_.leave(now, [&] { return rows_.injectors().tokens().buy_exit(); })) {
        moved = true;
        left_at = now + 1;
      }
      return left == 0 && drain_.inside() == 0;
    };
    rows_.run([](Cycle /*now*/) {}, ends);
    if (!rows_are_ready()) return {};
    return result(left_at);
  }

 private:
  using Group = RowGroup<DotProductRow<Number>>;

  Cycle hop() const { return QueueShapes(params_.router).link().latency; }
  bool rows_are_ready();
  std::vector<LaneCounts> counts_of(const Group& group, std::uint32_t row) const;
  GradientInLanes result(Cycle left_at);

  const HardwareParams params_;
  const Program& program_;
  RowsInLanes<DotProductRow<Number>> rows_;
  GradientOutcome outcome_;
  GradientDrain drain_;
};

/// True if in no row the first word of the chain has to wait for the core. Below the first row of a
/// group the chain comes later still.
template <class Number>
bool Fold<Number>::rows_are_ready() {
  const std::vector<LaneCounts> top = rows_.top().counts();
  const std::vector<std::uint64_t> positions = outcome_.positions();
  bool all = true;
  rows_.for_each_group([&](Group& group) {
    const std::vector<LaneCounts>& counts = group.row->counts();
    const Cycle later = group.rows.first * (drain_.latency() - hop());
    all = all && group.row->copied_in_time();
    for (std::size_t lane = 0; lane < counts.size(); ++lane) {
      all = all && (positions[lane] == 0 || counts[lane].streamed <= top[lane].streamed + later);
    }
  });
  return all;
}

/// What a row counted, in cycles of the wafer.
template <class Number>
std::vector<LaneCounts> Fold<Number>::counts_of(const Group& group, std::uint32_t row) const {
  std::vector<LaneCounts> counts = group.row->counts();
  const Cycle behind = Cycle{row} * hop();
  for (LaneCounts& lane : counts) {
    lane.cycles[kWaitWeights] += behind;
    lane.streamed += behind;
    lane.end += behind;
  }
  drain_.add_to(row, counts);
  return counts;
}

template <class Number>
GradientInLanes Fold<Number>::result(Cycle left_at) {
  Cycle cycles = left_at;  // no core with words ends later
  rows_.for_each_group([&](Group& group) {
    for (const LaneCounts& lane : group.row->counts()) {
      cycles = std::max(cycles, lane.end + group.rows.last * hop());
    }
  });
  rows_.for_each_group([&](Group& group) {
    for (std::uint32_t row = group.rows.first; row <= group.rows.last; ++row) {
      RouterCounters* const routers = outcome_.add_row(row, counts_of(group, row), cycles);
      group.row->add_counts(program_, routers);
      drain_.add_stalls(row, routers);
    }
  });
  GradientInLanes rows;
  rows.streamed = rows_.groups();
  rows.outcome = outcome_.finish(rows_.injectors().counters(cycles), cycles);
  return rows;
}

/// The largest number that a lane has to hold, dot products apart.
std::uint64_t largest(const HardwareParams& params, const Program& program) {
  std::vector<std::uint64_t> owned(program.columns, 0);
  for (const std::uint32_t column : program.kernel.final_column) ++owned[column];
  const std::uint64_t vectors =
      program.kernel.lookahead + *std::max_element(owned.begin(), owned.end()) + 2;
  const std::uint64_t beat = std::max(program.gradient->dot_cycles, program.gradient->move_cycles);
  return std::max({vectors, beat, largest_in_lanes(params, program)});
}

/// Why a row of cores cannot be stepped as a whole.
std::string reason_against_gradient_lanes(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  if (!program.gradient->gradients.empty()) return "each row carries values of its own";
  if (program.distribution_rows != 0)
    return "routers copy the stream to the groups (ws.copies = routed)";
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

std::optional<GradientInLanes> fold_gradient(const HardwareParams& params, const Program& program,
                                             const RunOptions& options) {
  if (!program.gradient || !reason_not_to_fold_gradient(params, program, options).empty()) {
    return {};
  }
  return in_lanes(largest(params, program), QueueShapes(params.router).longest(),
                  [&](auto number) { return Fold<decltype(number)>(params, program).run(); });
}

std::string reason_not_to_fold_gradient(const HardwareParams& params, const Program& program,
                                        const RunOptions& options) {
  if (kBufferCounts != 1) return "the drain of the chain knows stalls alone";
  if (options.engine != Engine::event) return "the clocked engine is the definition";
  std::string reason = options.for_units();
  if (reason.empty()) reason = reason_against_gradient_lanes(params, program);
  if (!reason.empty()) return reason;
  if (!program.gradient->kept) {
    return "the chain comes to each row at another time of its stream (ws.gradient = chained)";
  }
  if (!program.gradient->begins_with_stream) {
    return "cores begin in cycle 0, not with their first word (io.stream = row_ordered)";
  }
  if (LinkRule(params.router).pause > QueueShapes(params.router).ramp_up().latency)
    return "a link may be shut when the chain comes to it (router.link_cycles)";
  if (!QueueShapes(params.router).flows()) return "words stop in every router (router.entries = 1)";
  if (params.queue.sums_out() < 2)
    return "words stop at every core (queue.out: number 3 holds one)";
  return "";
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/gradient_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/mapping/wse/feature_shares.hpp"
#include "workloads/mapping/wse/rule_grid.hpp"
#include "workloads/mapping/wse/stream_memory.hpp"

namespace lacuna::wse {
namespace {

// Chosen on rings of 16 to 64 columns of a wse2; none is a property of hardware.
constexpr double kLongRow = 3.4;  // beside its square: what a row of dY of many words takes
constexpr double kBeside = 2;     // cycles of a place beside links, ramps and a command

/// A gradient whose dot products wait in memory until the last is made.
class Gradient {
 public:
  Gradient(const GradientJob& job, const WeightCounts& counts, const StreamingSetup& setup)
      : job_(job),
        counts_(counts),
        setup_(setup),
        words_(io_rate(setup.io, setup.wafer, setup.clock_ghz)) {
    set_types(job.dtype, job.partials, setup, kernel_);
  }

  /// Infinite if a core has no room for one row of Y.
  double cycles(const StreamLayout& at) const {
    const double width = at.columns / at.groups;
    const double elements = std::ceil(1.0 * job_.tokens / at.rows);
    const double steps = std::ceil(1.0 * job_.m / at.groups);
    const double kept = counts_.density * job_.m * job_.n;
    const double mean = kept / at.columns;
    const double variance = mean * (1 - counts_.density) * counts_.block_rows * counts_.block_cols;
    const double most = mean + fullest(at.columns) * std::sqrt(variance);
    const double parts = std::max(1.0, std::ceil(most / room(at, elements)));
    const bool fits = room(at, elements) > 0 && parts <= steps;
    if (!fits) return std::numeric_limits<double>::infinity();
    const double beats = std::ceil(elements / kernel_.simd);
    const double row = std::ceil(elements / kernel_.ring_elements);
    const double down = setup_.hop + 2.0 * setup_.ramp;  // the chain
    const double issue = most * beats + 2 * steps * row;
    const double column = std::max(issue, most * std::max(beats, 1.0 * setup_.core.dispatch));
    const double ring = width == 1 ? 0 : steps * turn(row, at);
    const double rate = static_cast<double>(words_.words) / static_cast<double>(words_.per);
    // sums leave when the last of a part is made
    return std::max({column, ring, (kept + 1.0 * job_.m * width) / rate}) +
           std::max(most, kept / rate) +
           parts * (at.rows * down + (width - 1) * (kBeside + place(at)));
  }

 private:
  /// From a column to the next on its ring, which is two columns of the group further.
  double place(const StreamLayout& at) const {
    // others have their groups interleaved
    return 2.0 * ((at.gradient ? 1 : at.groups) * setup_.hop + setup_.ramp);
  }

  /// Of the ring until the next row of dY begins, one place further than the one before. Words of a
  /// row follow each other from place to place; a long one goes around before the next is let in.
  double turn(double row, const StreamLayout& at) const {
    const double around = row * std::min(row + kLongRow, 1.0 * at.columns / at.groups);
    return std::max(kBeside + setup_.core.cmd_cycles + row * place(at), around);
  }

  /// Dot products that a core can hold; none or less if it has no room for their operands.
  double room(const StreamLayout& at, double elements) const {
    const double width = at.columns / at.groups;
    const double inputs = std::ceil(job_.n / width);
    const double outputs = std::ceil(job_.m / width);
    const double rest =
        elements * (inputs + outputs + at.lookahead) *
            static_cast<double>(kernel_.element_bytes()) +
        4.0 * (setup_.queue.stream() + 2.0 * (setup_.queue.sums_in() + setup_.queue.sums_out())) +
        1024.0 * setup_.mem.code_kib;
    return (1024.0 * setup_.mem.kib - rest) / static_cast<double>(kernel_.sum_bytes());
  }

  const GradientJob& job_;
  const WeightCounts counts_;
  const StreamingSetup& setup_;
  Rate words_;
  StreamingKernel kernel_;
};

}  // namespace

RowCost gradient_cost(const GradientJob& job, const WeightCounts& counts,
                      const StreamingSetup& setup) {
  return [=](const StreamLayout& at) { return Gradient(job, counts, setup).cycles(at); };
}

std::vector<StreamLayout> gradient_layouts_by_rule(const GradientJob& job,
                                                   const WeightCounts& counts,
                                                   const GivenLayout& given,
                                                   const StreamingSetup& setup) {
  const Gradient gradient(job, counts, setup);
  std::vector<StreamLayout> all;
  StreamLayout at;
  at.partition = given.partition.value_or(KPartition::block);
  at.lookahead = given.lookahead.value_or(64);
  at.gradient = true;
  for (at.groups = given.groups.value_or(1); at.groups <= given.groups.value_or(5); ++at.groups) {
    for (const std::uint32_t width : widths(job.n, setup.wafer.columns / at.groups)) {
      at.columns = width * at.groups;
      for (const std::uint32_t rows : heights(job.tokens, setup.wafer.rows)) {
        at.rows = rows;
        at.cycles = gradient.cycles(at);
        if (std::isfinite(at.cycles)) all.push_back(at);
      }
    }
  }
  sort_by_cycles(all);
  return all;
}

}  // namespace lacuna::wse

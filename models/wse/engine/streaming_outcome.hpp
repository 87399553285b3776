// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/engine/streaming_row.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_counts.hpp"

namespace lacuna::wse {

/// What the cores and routers of a streamed product count, known from its program, and from what
/// lanes counted of when they did it.
class StreamingOutcome {
 public:
  /// Both have to outlive it.
  StreamingOutcome(const HardwareParams& params, const Program& program);

  /// A core of `row`, whose first word comes `behind` cycles after that of the row simulated.
  CoreCounters core(std::uint32_t column, const LaneCounts& counts, std::uint32_t row,
                    Cycle behind) const;

  /// Adds the routers of `row`.
  void add_routers(std::uint32_t row, const std::vector<LaneCounts>& counts,
                   RouterCounters* routers) const;

  /// By column, commands included.
  std::vector<std::uint64_t> streamed_words() const;

 private:
  void add_exchange(std::uint32_t column, std::uint64_t words, CoreCounters& core) const;
  void add_buses(std::uint32_t column, std::uint64_t words, RouterCounters& router) const;

  const HardwareParams& params_;
  const Program& program_;
  std::vector<std::uint64_t> weights_, words_;  // by column
  SumCounts sums_;
};

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/lane_counts.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What a wafer's units counted in a weight gradient, from what its lanes counted: what each core
/// does is known before the run, and only when, is simulated.
class GradientOutcome {
 public:
  GradientOutcome(const HardwareParams& params, const Program& program);

  /// Dot products of a core in each column, which leave the wafer.
  std::vector<std::uint64_t> positions() const;

  /// Adds a row, of a run that took `cycles`, and returns its routers: how long words of the ring
  /// and the chain stood there is not in them yet.
  RouterCounters* add_row(std::uint32_t row, const std::vector<LaneCounts>& counts, Cycle cycles);
  /// The outcome once all rows are there.
  WaferOutcome finish(std::vector<InjectorCounters> injectors, Cycle cycles);

 private:
  /// What a column does in every row.
  struct ColumnWork {
    std::uint64_t weights = 0;
    std::uint64_t owned = 0;   // rows of dY
    std::uint64_t passed = 0;  // rows of dY that it sends on
  };

  CoreCounters core(std::size_t lane, const LaneCounts& counts, std::uint32_t row,
                    Cycle cycles) const;
  void add_router(std::uint32_t row, const LaneCounts& counts, const CoreCounters& core,
                  RouterCounters& router) const;
  void add_ring(std::uint32_t from, std::uint64_t words, RouterCounters* routers) const;

  const HardwareParams params_;
  const Program& program_;
  const std::vector<std::uint32_t> after_;  // by column, on its ring
  std::vector<ColumnWork> work_;
  WaferOutcome outcome_;
};

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/gradient_row.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What a wafer's units counted in a weight gradient, from what its lanes counted: what each core
/// does is known before the run, and only when, is simulated.
class GradientOutcome {
 public:
  GradientOutcome(const HardwareParams& params, const Program& program);

  /// Dot products of a row of cores, which all leave the wafer.
  std::uint64_t expected() const { return expected_; }
  /// Those of the column of a lane.
  std::uint64_t positions(std::size_t lane) const { return work_[lane].weights; }

  /// Adds a row, of a run that took `cycles`.
  void add_row(std::uint32_t row, const std::vector<GradientLaneCounts>& counts, Cycle cycles);
  /// The outcome once all rows are there.
  WaferOutcome finish(std::vector<InjectorCounters> injectors, Cycle cycles);

 private:
  /// What a column does in every row.
  struct ColumnWork {
    std::uint64_t weights = 0;
    std::uint64_t owned = 0;   // rows of dY
    std::uint64_t passed = 0;  // rows of dY that it sends on
  };

  CoreCounters core(std::size_t lane, const GradientLaneCounts& counts, std::uint32_t row,
                    Cycle cycles) const;
  void add_routers(std::uint32_t row, const std::vector<GradientLaneCounts>& counts);
  void add_ring(std::size_t lane, const std::vector<GradientLaneCounts>& counts,
                const CoreCounters* cores, RouterCounters* routers) const;

  const HardwareParams params_;
  const Program& program_;
  const GradientLanes lanes_;
  std::vector<ColumnWork> work_;
  std::uint64_t expected_ = 0;
  WaferOutcome outcome_;
};

}  // namespace lacuna::wse

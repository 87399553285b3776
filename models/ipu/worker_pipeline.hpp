// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/ipu/chip_params.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::ipu {

/// The pipeline that the workers of a tile share: a round of issue slots, served in turn. Each
/// worker has a slot; if the round is deeper than there are workers, some stay empty.
/// BarrelScheduler serves them one by one; this says what that comes to.
class WorkerPipeline {
 public:
  explicit WorkerPipeline(const TileParams& tile) : WorkerPipeline(tile.slots()) {}
  explicit constexpr WorkerPipeline(std::uint64_t slots) : slots_(slots) {}

  std::uint64_t slots() const { return slots_; }

  /// The clocks for which so many bundles of one worker occupy the tile.
  Cycle clocks(std::uint64_t bundles) const { return slots_ * bundles; }

  /// The clock, from the launch on, in which a worker issues the last of its bundles.
  Cycle exit(std::uint64_t worker, std::uint64_t bundles) const {
    return slots_ * (bundles - 1) + worker;
  }

  /// The clocks in which the supervisor, in the slots of workers that are out, works `ahead` on
  /// what follows all workers. The shortest worker has left it the first slot.
  Cycle after_workers(std::uint64_t longest, std::uint64_t shortest, Cycle ahead) const {
    const Cycle done = clocks(shortest) + ahead;
    return done - std::min(done, clocks(longest));
  }

  /// A set of workers from its launch until the supervisor goes on.
  Cycle set(std::uint64_t longest, std::uint64_t shortest, Cycle ahead) const {
    return clocks(longest) + after_workers(longest, shortest, ahead);
  }

 private:
  std::uint64_t slots_;
};

}  // namespace lacuna::ipu

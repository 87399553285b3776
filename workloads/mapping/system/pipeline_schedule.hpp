// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/cycle.hpp"

namespace lacuna::system {

/// A micro-batch on a stage, in one direction.
struct MicroBatchPass {
  bool forward = true;
  std::size_t stage = 0;
  std::uint64_t micro_batch = 0;
};

/// What a stage takes, and on which chip.
struct StageCycles {
  unsigned chip = 0;
  Cycle forward = 0;
  Cycle backward = 0;
};

/// The order of a pipeline without common steps, one forward and one backward in turn: a chip takes
/// whatever is ready first, backward before forward, and a stage with n - 1 stages after it has at
/// most n micro-batches between the two. Every pass stands behind those that it needs. With one
/// direction alone there is no such limit.
std::vector<MicroBatchPass> schedule_of(const std::vector<StageCycles>& stages,
                                        std::uint64_t micro_batches, bool forward, bool backward);

}  // namespace lacuna::system

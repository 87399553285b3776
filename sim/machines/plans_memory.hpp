// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// What a machine adds whose plans say how much memory a row needs.
class PlansMemory {
 public:
  virtual ~PlansMemory() = default;

  /// Bytes that the fullest tile needs for `op`, whose X is dense, as a run notes them.
  /// OutOfMemoryError if it has too few.
  virtual std::uint64_t tile_bytes(const LayerOp& op, const Mask* mask,
                                   std::uint64_t seed) const = 0;
};

}  // namespace lacuna

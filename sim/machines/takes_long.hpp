// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a machine adds that knows which operations take long to simulate.
class TakesLong {
 public:
  virtual ~TakesLong() = default;

  /// About how long, why, and what is sooner done, to be said before the operation runs; empty if
  /// it takes no longer than others.
  virtual std::string takes_long(const LayerOp& op) const = 0;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// Cycles that the beats from element `done` on take if nothing comes between them.
inline Cycle cycles_alone(const Instruction& what, const BeatCost& cost, std::uint32_t done) {
  if (done == what.length) return 0;
  const Cycle left = what.length - done;
  if (what.op == VectorOp::work) return left;
  return cost.beats(done, what.length) + cost.stalls_from(done, what.length).all();
}

}  // namespace lacuna::wse

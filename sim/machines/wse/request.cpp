// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/request.hpp"

#include "workloads/trace/row_mask.hpp"

namespace lacuna {

Execution without_record(const Execution& execution) {
  Execution plain;
  plain.engine = execution.engine;
  plain.fold = execution.fold;
  return plain;
}

std::optional<Mask> x_mask_of(const LayerOp& op, std::uint64_t seed) {
  LayerOp seeded = op;
  seeded.seed = seed;
  return make_x_mask(seeded, seed);
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// Runs one behind the moves of its operands. Of the two the one with zeros is streamed.
OpResult run_dense_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                            std::uint64_t seed, const Execution& execution);

/// Of one without zeros cycles that no run can be below, without moves; and what it is expected to
/// take: that, as far as there are colors and queues for it (UnsupportedError).
Cycle least_cycles_of_dense_gradient(const WseParams& params, const LayerOp& op);
Cycle expected_cycles_of_dense_gradient(const WseParams& params, const LayerOp& op);

}  // namespace lacuna

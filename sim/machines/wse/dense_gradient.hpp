// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// The gradient of a dense weight, a product of two activations of which one is streamed from
/// outside as weights are.
bool is_dense_gradient(const LayerOp& op);

/// Runs one behind the moves of its operands. Of the two the one with zeros is streamed.
OpResult run_dense_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                            std::uint64_t seed, const Execution& execution);

/// Those moves alone, as far as they are known and charged. No cycles if nothing moves.
OpResult moves_of_dense_gradient(const WseParams& params, const LayerOp& op, std::uint64_t seed,
                                 const Execution& execution);

/// Of one without zeros cycles that no run can be below, without moves; and what it is expected to
/// take: that, as far as there are colors and queues for it (UnsupportedError).
Cycle least_cycles_of_dense_gradient(const WseParams& params, const LayerOp& op);
Cycle expected_cycles_of_dense_gradient(const WseParams& params, const LayerOp& op);

}  // namespace lacuna

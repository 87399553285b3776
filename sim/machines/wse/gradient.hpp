// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// One sampled product, such as the gradient of a sparse weight: its results leave the wafer. The
/// products of attention, many at once, stay on it.
bool is_sampled_gradient(const LayerOp& op);

/// Runs an `sddmm` on a wafer: the kept elements of a product of activations, such as a weight
/// gradient, behind the moves of dY and X. Instances of a batch run one after the other.
OpResult run_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                      std::uint64_t seed, const Execution& execution);

/// Moves dY and X from where rows before have or left them to where the gradient takes them. No
/// cycles if they lie there, or if nothing is known of them.
OpResult run_gradient_moves(const WseParams& params, const LayerOp& op, const Mask* mask,
                            const Execution& execution);

/// Cycles that no run of it can be below, without moves, from counts alone.
Cycle least_cycles_of_gradient(const WseParams& params, const LayerOp& op, const Mask* mask);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// Runs an `sddmm` on a wafer: the kept elements of a product of activations, such as a weight
/// gradient, behind the moves of dY and X. Instances of a batch run one after the other.
OpResult run_gradient(const WseParams& params, const LayerOp& op, const Mask* mask,
                      std::uint64_t seed, const Execution& execution);

/// Cycles that no run of it can be below, without moves, from counts alone.
Cycle least_cycles_of_gradient(const WseParams& params, const LayerOp& op, const Mask* mask);

}  // namespace lacuna

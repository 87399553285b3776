// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/driver/machine.hpp"
#include "sim/driver/wse_params.hpp"

namespace lacuna {

/// Runs a product on a wafer: its weights streamed, or with mode `static` resident in the cores
/// while activations are streamed. `op` is of a kind, mode and type that streaming can do.
OpResult run_streamed(const WseParams& params, const LayerOp& op, const Mask* mask,
                      std::uint64_t seed, const Execution& execution);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/ipu/ipu_chip.hpp"
#include "sim/report/result.hpp"

namespace lacuna {

/// The phases of a finished run of `program`, in the order of their first times: their cycles,
/// those of one name summed, and the bytes they moved if `with_bytes`. A phase that begins on some
/// tiles while others are in the one before counts from where that one ends. InternalError if the
/// bytes do not add up to those that the chip counted.
std::vector<PhaseTraffic> ipu_phases(ipu::IpuChip& chip, const ipu::Program& program,
                                     bool with_bytes);

}  // namespace lacuna

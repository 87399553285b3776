// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/ipu/gemm.hpp"

namespace lacuna::ipu {

/// Puts the transposition of operands before a planned product that wants them the other way. They
/// have so many elements each and lie over all tiles as the forward pass left them. Each tile
/// transposes its share in place, in blocks of 16 x 16 that its workers divide. The product's own
/// exchange moves the blocks on. `phase` is the name of the new compute set.
void transpose_first(const ChipParams& chip, const Target& target,
                     const std::vector<std::uint64_t>& operands, const char* phase,
                     PlannedOperation& planned);

}  // namespace lacuna::ipu

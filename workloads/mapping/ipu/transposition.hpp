// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/ipu/gemm.hpp"

namespace lacuna::ipu {

/// Puts the transposition of `elements` dense weights, which lie over all tiles as the forward pass
/// left them, before a planned product with their transpose: each tile transposes its share in
/// place, in blocks of 16 x 16 that its workers divide. Where the blocks go from there is the
/// product's own exchange.
void transpose_first(const ChipParams& chip, const Target& target, std::uint64_t elements,
                     PlannedOperation& planned);

}  // namespace lacuna::ipu

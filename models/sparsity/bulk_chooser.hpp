// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/sparsity/mask.hpp"
#include "sim/base/random.hpp"

namespace lacuna {

/// From so many positions on these are faster than drawing one number after another.
inline constexpr std::uint64_t kBulkPositions = std::uint64_t{1} << 22U;

/// Fills `mask`, of which only the shape and the first offset are set, with `keep` of its blocks:
/// the choice of Chooser.
void choose_in_bulk(const Random& random, std::uint64_t keep, Mask& mask);

/// Fills it with those whose number of 53 bits is below `threshold`.
void threshold_in_bulk(const Random& random, std::uint64_t threshold, Mask& mask);

}  // namespace lacuna

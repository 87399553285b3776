// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/sparsity/decimal.hpp"
#include "models/sparsity/mask.hpp"

namespace lacuna {

/// The seed of the published PopSparse measurements.
inline constexpr std::uint32_t kPopsparseSeed = 123;

/// The positions that rule can shuffle: what its random numbers can tell apart.
inline constexpr std::uint64_t kMostShuffled = 2147483645;

/// How many of so many blocks the benchmark program keeps: the density and its products with the
/// sides are numbers of 24 bits, and what results is rounded up.
std::uint64_t popsparse_count(const Decimal& density, std::uint32_t rows, std::uint32_t columns);

/// Fills `mask`, of which only the shape and the first offset are set, with the blocks that the
/// benchmark of the PopSparse measurements keeps (graphcore-research/sparsity-benchmarks,
/// matmul_bench.cpp). All positions, row by row, are shuffled as the GNU C++ library does with its
/// default random engine. The first `keep` stay. It knows neither the type nor the columns of the
/// dense operand; the density only says where the list is cut.
void choose_as_popsparse(std::uint32_t seed, std::uint64_t keep, Mask& mask);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "workloads/mapping/ipu/gemm.hpp"

namespace lacuna::ipu {

/// What takes the place of a product: |w - x|, or its square.
enum class Distance { l1, l2 };

/// Plans and lowers Y[m x n]: sums over k of the distances between row i of W and column j of X,
/// both dense. It is done on the vector unit, on the grid of tiles that plan_pairs() cuts.
/// UnsupportedError, OutOfMemoryError.
PlannedOperation plan_distances(const ChipParams& chip, const PlannerParams& planner,
                                const GemmProblem& problem, Distance distance);

/// Adds all elements of Y to a comparison.
void compare_distances(Comparison& comparison, const GemmProblem& problem, Distance distance,
                       const std::function<double(std::uint32_t row, std::uint32_t column)>& read);

/// Bundles of a worker for a pair of row and column: addresses and count 3, loop 1, filling the
/// pipeline 2, summing across 2, a store. For each two 64-bit vectors of them: two differences of a
/// vector each and one accumulation of both (f16v8absacc, f32v4sqacc).
inline constexpr std::uint64_t kDistancePair = 9;
inline constexpr std::uint64_t kDistanceStep = 3;

}  // namespace lacuna::ipu

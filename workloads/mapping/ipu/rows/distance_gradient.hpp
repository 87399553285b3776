// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "workloads/mapping/ipu/rows/distances.hpp"

namespace lacuna::ipu {

/// Plans and lowers the backward of distances: Y[i, j] is the sum over k of G[i, k] s(P[i, j] -
/// X[k, j]). G[m x k] are gradients of distances, rows of P the vectors whose gradient is wanted,
/// rows of X those they were compared with. s is the sign (l1; of zero it is zero) or twice the
/// difference (l2). The grid of tiles is that of plan_pairs(). G and X are spread as operands of
/// distances; P is where Y will be, or spread over the parts of a contraction that is cut.
/// UnsupportedError, OutOfMemoryError.
PlannedOperation plan_distance_gradient(const ChipParams& chip, const PlannerParams& planner,
                                        const GemmProblem& problem, Distance distance);

/// Adds all elements of Y to a comparison.
void compare_distance_gradient(
    Comparison& comparison, const GemmProblem& problem, Distance distance,
    const std::function<double(std::uint32_t row, std::uint32_t column)>& read);

/// What a distance grows by as `own` does.
double distance_slope(Distance distance, double own, double other);

/// Bundles of a worker. The loops are those of the product of sparse elements, whose worker has
/// 33 + rows (12 + groups (11 + 3 k)) in FP16 with groups of 8 columns, 31 + rows (12 + groups (7 +
/// 3 k)) in FP32 with groups of 4 (PopLibs popsparse, MIT); two of the three are products of a
/// vector with a number, one accumulates both. Here the own vectors are loaded once for each group,
/// and in place of a product a vector takes for
/// - l2: a difference and a product;
/// - l1: two comparisons, a mask of the gradient for each, and their difference.
struct DistanceGradientBundles {
  std::uint64_t entry;
  std::uint64_t row;
  std::uint64_t group;
  std::uint64_t step;  // of k
  unsigned columns;    // of a group
};
DistanceGradientBundles distance_gradient_bundles(DType type, Distance distance);

}  // namespace lacuna::ipu

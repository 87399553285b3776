// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/sparsity/mask.hpp"
#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/mapping/ipu/sampled/sampled_plan.hpp"

namespace lacuna::ipu {

/// Lowers mask o (A[m x k] B[k x n]); the blocks of `problem.mask` are those of the plan. The
/// result's `place` takes the number of a block in the mask and an element in it, row-major.
LoweredGemm lower_sampled(const ChipParams& params, const Target& target, const Types& types,
                          const GemmProblem& problem, const SampledPlan& plan);

/// Plans and lowers it: with a pattern that is known, or, in mode dynamic, from the buckets of the
/// product with the m x n matrix of the mask. A dense problem is a product.
PlannedOperation plan_sampled_product(const ChipParams& chip, const PlannerParams& planner,
                                      const GemmProblem& problem, Mode mode);

/// Adds the kept elements of the product to a comparison; `read` gives element `e` of block `b`.
void compare_sampled(Comparison& comparison, const GemmProblem& problem, const Mask& blocks,
                     const std::function<double(std::uint32_t b, std::uint32_t e)>& read);

/// Adds a sum formed in FP32 of terms that add up to `magnitude` to a comparison. Sums of small
/// integers are exact, those of other numbers off by some roundings of their magnitude. In FP16
/// they are rounded once more where they are stored, by chance a whole place off in place of half
/// of one.
void compare_sum(Comparison& comparison, const GemmProblem& problem, double found, double exact,
                 double magnitude);

/// The element at position p (row-major) of A, and of B.
float sampled_left(const GemmProblem& problem, std::uint64_t p);
float sampled_right(const GemmProblem& problem, std::uint64_t p);

/// The mask in blocks that the codelets take.
Mask sampled_blocks(const Mask& mask, DType type);

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::ipu {

/// Clocks that the plan of a product cannot be below, from counts: multiplications of the fullest
/// tile, the bytes that it receives, and of static products the partials that are summed. Nothing
/// of dynamic products, of patterns without non-zeros, and if there is no plan.
std::optional<Cycle> least_cycles(const ChipParams& chip, const PlannerParams& planner,
                                  const LayerOp& op, const Mask* mask);

}  // namespace lacuna::ipu

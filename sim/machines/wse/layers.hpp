// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/wse/request.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna {

/// Runs an operation other than a product with streamed weights on a wafer, as a program of tasks
/// (see workloads/mapping/wse/layers/plan.hpp).
OpResult run_layer_operation(const WaferRequest& request);

/// Runs what has been planned: stages of programs of tasks, one after the other.
OpResult run_task_plan(const WaferRequest& request, wse::LayerPlan plan);

/// Moves the operands of a product with weights, streamed or `resident`, or of the gradient of
/// weights from where the rows before left them to where it takes them; or its result from where
/// resident weights leave it to where streamed ones do. Of zeros of X it knows from `seed`. No
/// cycles if all lies there, or if nothing is known of it.
enum class MoveSide { before, after };
OpResult run_moves(const WaferRequest& request, bool resident, MoveSide side = MoveSide::before);

/// Puts these moves before or behind what `result` is of.
void add_moves(const WaferRequest& request, bool resident, OpResult& result,
               MoveSide side = MoveSide::before);

/// What a row takes beside a product with weights or their gradient, roughly: the row itself if it
/// is neither, and the moves of its operands, of `resident` weights of its result too.
struct RoughCost {
  double cycles = 0;        // infinite if it has no room, or cannot be
  std::uint64_t bytes = 0;  // of the fullest core, for an operation by itself; 0 if it cannot be
};
RoughCost estimated_beside(const WseParams& params, const LayerOp& op, const Mask* mask,
                           bool resident = false);

}  // namespace lacuna

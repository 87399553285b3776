// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna {

/// Runs an operation other than a product with streamed weights on a wafer, as a program of tasks
/// (see workloads/mapping/wse/layers/plan.hpp).
OpResult run_layer_operation(const WseParams& params, const LayerOp& op, const Mask* mask,
                             std::uint64_t seed, const Execution& execution);

/// Runs what has been planned: stages of programs of tasks, one after the other.
OpResult run_task_plan(const WseParams& params, wse::LayerPlan plan, const Execution& execution);

/// Moves the operands of a product with weights, streamed or `resident`, or of the gradient of
/// weights from where the rows before left them to where it takes them; or its result from where
/// resident weights leave it to where streamed ones do. Of zeros of X it knows from `seed`. No
/// cycles if all lies there, or if nothing is known of it.
enum class MoveSide { before, after };
OpResult run_moves(const WseParams& params, const LayerOp& op, const Mask* mask, std::uint64_t seed,
                   const Execution& execution, bool resident, MoveSide side = MoveSide::before);

/// Bytes that the fullest core needs for an operation by itself; 0 if it cannot be planned.
std::uint64_t layer_bytes(const WseParams& params, const LayerOp& op, const Mask* mask);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/mapping/wse/layers/feature_layout.hpp"

namespace lacuna {

/// Runs an operation other than a product with streamed weights on a wafer, as a program of tasks
/// (see workloads/mapping/wse/layers/plan.hpp).
OpResult run_layer_operation(const WseParams& params, const LayerOp& op, const Mask* mask,
                             std::uint64_t seed, const Execution& execution);

/// Moves the operands of a product with streamed weights from where the rows before left them to
/// where it takes them. No cycles if they lie there.
OpResult run_operand_moves(const WseParams& params, const LayerOp& op, const Mask* mask,
                           const Execution& execution);

/// The same of dY and X of a weight gradient, which takes them at `to`.
OpResult run_moves_to(const WseParams& params, const LayerOp& op, const Mask* mask,
                      const Execution& execution, const wse::GradientLayouts& to);

/// The same of the gradient of a dense weight, which streams dY or (`streams_x`) X from outside. Of
/// zeros of X the move knows from `seed`.
OpResult run_dense_gradient_moves(const WseParams& params, const LayerOp& op, std::uint64_t seed,
                                  const Execution& execution, bool streams_x);

/// The same of a product with resident weights: X to the top of its columns before it, its result
/// to where one with streamed weights leaves it after it. `x_mask` says what of X is not zero,
/// where that is known: features are dealt by it as the product deals them.
enum class MoveSide { before, after };
OpResult run_resident_moves(const WseParams& params, const LayerOp& op, const Mask* mask,
                            const Mask* x_mask, const Execution& execution, MoveSide side);

/// Bytes that the fullest core needs for an operation by itself; 0 if it cannot be planned.
std::uint64_t layer_bytes(const WseParams& params, const LayerOp& op, const Mask* mask);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machines/wse/params.hpp"
#include "workloads/mapping/wse/gradient.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// One sampled product, such as the gradient of a sparse weight: its results leave the wafer. The
/// products of attention, many at once, stay on it.
bool is_sampled_gradient(const LayerOp& op);

/// The gradient of a dense weight, a product of two activations of which one is streamed from
/// outside as weights are.
bool is_dense_gradient(const LayerOp& op);

inline bool is_gradient(const LayerOp& op) {
  return is_sampled_gradient(op) || is_dense_gradient(op);
}

/// A gradient of which every element is made, as that of a dense weight is: zeros of weights are
/// not left out (ws.zero_filter), or there are none.
bool is_whole_gradient(const WseParams& params, const LayerOp& op);

/// What the planner of a sampled one needs to know; without values.
wse::GradientJob gradient_job(const LayerOp& op, const Mask* mask);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/gradient_op.hpp"

namespace lacuna {

using wse::GradientJob;

bool is_sampled_gradient(const LayerOp& op) { return op.op == "sddmm" && op.batch == 1; }

bool is_dense_gradient(const LayerOp& op) {
  return op.op == "bmm" && op.batch == 1 && op.phase != Phase::fwd &&
         (op.fn.empty() || op.fn == "dot");
}

bool is_whole_gradient(const WseParams& params, const LayerOp& op) {
  return is_dense_gradient(op) || (is_sampled_gradient(op) && !params.ws.zero_filter);
}

GradientJob gradient_job(const LayerOp& op, const Mask* mask) {
  GradientJob job;
  job.m = op.m;
  job.tokens = op.k;
  job.n = op.n;
  job.mask = mask;
  job.dtype = op.dtype;
  job.partials = op.partials;
  return job;
}

}  // namespace lacuna

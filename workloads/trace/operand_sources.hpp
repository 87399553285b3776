// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Fills `sources` of every row of `trace` from its dependencies.
///
/// Rows of one matrix (batch 1) take activations of the rows they depend on: each a whole operand,
/// or all together one, side by side. Of products of attention (bmm, batch > 1) the heads of
/// queries, keys and values are told by their sizes: W or X is a matrix of scores if a row of an
/// element-wise function or softmax has its shape and batch; the product of two activations is
/// scores, that of scores and activations is activations. Activations of three parts are queries,
/// keys and values in this order. A backward row that names no activations takes those of the
/// forward row of its layer. What does not fit stays unknown.
void find_sources(WorkloadTrace& trace);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Fills `sources` of every row of `trace` from its dependencies.
///
/// Rows of one matrix (batch 1) take activations of the rows they depend on: each a whole operand,
/// or all together one, side by side. A row whose forward row made a part of such an operand takes
/// that part of its gradient. A gated linear unit (`glu`) takes the halves of one.
///
/// Products of attention (bmm and sddmm, batch > 1) make scores. They take scores if they depend on
/// an element-wise function or a softmax of as many, or if only such a one has their size. The
/// heads of queries, keys and values are told by their sizes: activations of three parts have them
/// in this order. Fewer tokens than a sequence has are the last of each; the others are in a cache.
/// The two backward rows of a forward row are of the same layer, in the order of its operands. They
/// take what it took, and put gradients where its operands were.
///
/// The gradient of a weight (sddmm, of a dense one bmm, batch 1, phase bwd) takes dY and X, in this
/// order, where earlier products of its layer held them. X is the last forward one of its sides, dY
/// the last backward one, or else the row that made it. Nothing is known of a product whose weights
/// stay on the chip, nor of a bmm whose layer has no such product.
///
/// What does not fit stays unknown.
void find_sources(WorkloadTrace& trace);

/// Of each row, in the order of `trace`, and each of its sources as find_sources() gives them the
/// id of the row that made it, empty where none did.
std::vector<std::vector<std::string>> source_makers(const WorkloadTrace& trace);

}  // namespace lacuna

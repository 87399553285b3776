// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/import/proto_graph.hpp"

namespace lacuna {

/// Fills the shapes of `graph`: those of all tensors of which its file says the sides, or ONNX's
/// own inference can work them out from those it says, also through operators that compute sides.
/// Operators that are not of the standard, that are of a later version than is installed, or of
/// which inference is not asked (it trusts a file more than can be trusted), say nothing of their
/// results. What the file says is taken if inference says another.
void infer_shapes(OnnxGraph& graph);

}  // namespace lacuna

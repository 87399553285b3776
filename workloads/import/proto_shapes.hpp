// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/import/proto_graph.hpp"

namespace lacuna {

/// Fills the shapes of `graph`. Those are known of tensors whose sides the file says, or that
/// ONNX's own inference works out from them, also through operators that compute sides. Nothing is
/// known of results of operators outside the standard, of a later version than is installed, or
/// that inference is not asked for (it trusts files too much). What the file says is taken if
/// inference says another.
void infer_shapes(OnnxGraph& graph);

}  // namespace lacuna

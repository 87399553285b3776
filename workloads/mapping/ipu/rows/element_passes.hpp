// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/functions/element_functions.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"

namespace lacuna::ipu {

/// What a vector of this element-wise operation costs, whose function is known.
const VectorPass& element_pass(const LayerOp& op);

}  // namespace lacuna::ipu

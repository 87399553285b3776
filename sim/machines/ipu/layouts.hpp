// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/machines/layout_space.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// What planners choose from, for each kind of product.
const std::vector<LayoutSpace>& layout_spaces();

/// The kind of an operation, empty if it has one layout only.
std::string layout_kind(const LayerOp& op, const Mask* mask);

}  // namespace lacuna::ipu

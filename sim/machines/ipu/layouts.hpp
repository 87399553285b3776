// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/parameter.hpp"
#include "sim/machines/layout_space.hpp"
#include "sim/report/result.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// What planners choose from, for each kind of product.
const std::vector<LayoutSpace>& layout_spaces();

/// By choice, layouts that differ from `layout` in it, or in where sums are made and by how many
/// workers. `own`: the values of what it does not name.
std::vector<std::vector<Pairs>> layouts_around(const LayoutSpace& space, const ParameterSet& own,
                                               const Pairs& layout);

/// That of an operation; null if it has one layout only.
const LayoutSpace* layout_space(const LayerOp& op, const Mask* mask);

}  // namespace lacuna::ipu

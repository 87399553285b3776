// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/mapping/ipu/operand_moves.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::ipu {

/// Leaves in `workload` the operands of products with weights that such a product has made: all, or
/// some rows of them. Element-wise functions and normalisations run where their first operand lies,
/// and leave their result there. `makers` are the ids of the rows that made them, by row and
/// source.
void keep_moved_operands(WorkloadTrace& workload, std::vector<std::vector<std::string>>& makers);

/// Where a product has its operand and its result in a layout.
struct LaidProduct {
  std::shared_ptr<const ProductHomes> homes;  // null: none that are known
  bool as_planned = true;                     // they are those of the plan without a layout
};

bool lie_alike(const ProductHomes& one, const ProductHomes& other, const LayerOp& op);

/// What of the operand of `op`, which is laid out as `own`, comes from where `makers` of its
/// sources have left it; nothing moves if its rows are empty. As planned a product finds its
/// operand where it takes it: so it does if both lie as planned.
MovedOperand moved_operand(const LayerOp& op, const LaidProduct& own,
                           const std::vector<LaidProduct>& makers);

}  // namespace lacuna::ipu

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

/// The operand of `op`, which takes it at `to`, from where those have left it that made its sources
/// (null: it is there); nothing moves if its rows are empty.
MovedOperand moved_operand(const LayerOp& op, const std::shared_ptr<const ProductHomes>& to,
                           const std::vector<std::shared_ptr<const ProductHomes>>& makers);

}  // namespace lacuna::ipu

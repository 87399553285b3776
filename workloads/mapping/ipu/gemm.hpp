// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/functions/operands.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna::ipu {

/// The memory of each tile, after a run with values.
using ChipMemory = std::function<const TileMemory&(TileId)>;

/// An operation on its way to a chip: the program, and what there is to say about its plan.
struct PlannedOperation {
  LoweredGemm lowered;
  Types types;
  std::uint64_t bucket_bytes = 0;  // of all buckets, if the pattern is dynamic
  std::uint64_t blocks = 0;        // in them
  unsigned block = 1;
  std::uint64_t mac_useful = 0;                          // products of two kept elements
  std::function<Comparison(const ChipMemory&)> compare;  // absent: lowered.place has the product
  std::optional<RoundMode> round;  // of fp16 results; absent: that of the chip
  std::vector<std::pair<std::string, std::string>> notes;
  std::vector<std::pair<std::string, Cycle>> estimates;  // the planner's, by phase
};

/// Plans and lowers `problem`, by the rules of `mode` (automatic: static_ if the left operand is
/// sparse, else dense). Throws UnsupportedError or OutOfMemoryError.
PlannedOperation plan_gemm(const ChipParams& chip, const PlannerParams& planner,
                           const GemmProblem& problem, Mode mode);

/// The clocks that the planner expects of the plan that it would take, without barriers; nothing if
/// it has no plan.
std::optional<Cycle> expected_cycles(const ChipParams& chip, const PlannerParams& planner,
                                     const LayerOp& op, const Mask* mask);

/// Why the operands and the result of a product cannot be held by the chip whichever elements are
/// kept, from the dimensions and the density; empty if they may.
std::string no_room_for_product(const ChipParams& chip, const LayerOp& op);

/// The mask with blocks of a side that static codelets have: 16, 8 or 4 where it divides those of
/// the mask, else 1. Keeps the same elements.
Mask usable_blocks(const Mask& mask);

}  // namespace lacuna::ipu

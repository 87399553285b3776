// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/mapping/ipu/encoding.hpp"
#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::ipu {

/// A row of a trace as a planner takes it. `mask` is that of its masked operand; null: dense.
struct OperationRequest {
  const ChipParams& chip;
  const PlannerParams& planner;
  const LayerOp& op;
  const Mask* mask = nullptr;
  std::uint64_t seed = 0;
  bool values = false;
  double sigma = 0;                      // of normally distributed values; 0: small integers
  const EncodeParams* encode = nullptr;  // of a masked operand whose zeros the tiles find first
  // Operands in place of drawn ones, for as long as `compare` is called: of a product by the seeds
  // of weight_value() and input_value(), an instance two seeds behind the one before; of others
  // the n-th by seed + n, a shared vector by seed + 3 of element-wise functions and seed + 2 of
  // rows. A table is seed + 1, the rows that are added to it seed + 2, and whose they are seed + 3.
  const GivenOperands* given = nullptr;
};

/// Plans and lowers any operation an IPU can run; the table of these is in operation.cpp. Throws
/// UnsupportedError, which names the operation, or OutOfMemoryError.
PlannedOperation plan_operation(const OperationRequest& request);

/// `gemm`, `spmm`, `bmm`: the instances of a batch on groups of tiles, in as many rounds as the
/// plan finds soonest over.
PlannedOperation plan_products(const OperationRequest& request);

// The other rows of the table. Each lays its operands over all tiles by itself; a batch is part of
// it.

/// `eltwise`: operands are laid out alike, a vector that all rows share is sent to where it is
/// used.
PlannedOperation plan_eltwise(const OperationRequest& request);

/// `softmax`, `layernorm`, `rmsnorm`, and sums over columns: rows are whole on a tile, or in parts
/// on several that exchange their maxima and sums.
PlannedOperation plan_rows(const OperationRequest& request);

/// `optim`: parameters and their state are laid out alike.
PlannedOperation plan_optimizer(const OperationRequest& request);

/// `embed`.
PlannedOperation plan_embedding(const OperationRequest& request);

/// UnsupportedError unless the operation is of fp16 or fp32.
void check_vector_type(const LayerOp& op);

/// OutOfMemoryError if `bytes` are more than a tile has.
void check_tile_bytes(const ChipParams& chip, const LayerOp& op, std::uint64_t bytes);

}  // namespace lacuna::ipu

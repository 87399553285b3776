// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/systolic/array.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::systolic {

struct Plan {
  std::vector<Pass> passes;
  std::uint64_t skipped = 0;  // inputs of pieces that were left out
  std::uint64_t useful = 0;   // multiply-accumulates of weights that are kept
};

/// The passes of a `gemm` or `spmm` whose weights keep the elements of `mask` (null: dense).
/// UnsupportedError names what else was asked for; OutOfMemoryError has the bytes.
Plan plan_product(const LayerOp& op, const Mask* mask, const ArrayParams& array,
                  const BufferParams& buffer);

}  // namespace lacuna::systolic

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/functions/gemm_problem.hpp"

namespace lacuna::wse {

/// No row of the weights.
inline constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

/// A product as the wafer runs it: what is streamed and what the cores hold.
struct StreamingJob {
  GemmProblem gemm;
  std::uint32_t batch = 1;       // products of this shape, each with matrices of its own
  bool packed = false;           // without zeros left out: no indices, FP16 values in pairs
  bool resident = false;         // the cores hold W, the non-zeros of X are streamed
  const Mask* x_mask = nullptr;  // of X; null: dense
  const Mask* used = nullptr;    // of the result, m x n: what is of use; null: all of it
  std::uint64_t beside = 0;      // bytes of each core that weights of other products take
};

}  // namespace lacuna::wse

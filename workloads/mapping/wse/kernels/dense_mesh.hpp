// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/params.hpp"
#include "workloads/mapping/wse/code_costs.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {

/// Y[m x n] = W[m x k] X[k x n] in FP16 on a square of `side` x `side` cores, each with a tile of
/// all three.
struct DenseMeshJob {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
  std::uint32_t side = 1;
  DenseMesh kind = DenseMesh::mesh;
  std::uint32_t memory_bytes = 0;
  bool values = false;
  std::uint64_t seed = 1;
};

/// `mesh`: tiles of W go round a ring along x and tiles of X along y, at most two hops at a time,
/// while the present ones are multiplied. They lie skewed from the start. `cannon`: the same on
/// lines, from whose end a link leads back to the first core. Tiles lie where their blocks do and
/// are skewed first: W in row r is shifted by r blocks, X in column c by c blocks. `summa`: in step
/// i, column i of cores sends its tiles of W along the rows, and row i sends its tiles of X along
/// the columns. A product begins when both have come. Throws OutOfMemoryError.
TaskKernel plan_dense_mesh(const DenseMeshJob& job, const CodeCosts& costs);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The mask of a row of a trace.
struct RowMask {
  std::size_t row = 0;
  Mask mask;
};

/// Prunes all rows of pattern `magnitude` with one threshold, as oBERT's recipes with
/// `global_sparsity` do. Together they keep as many blocks as each would by its own density, and
/// layers with larger weights keep more. Scores are those each row would draw by itself.
/// RequestError if no row has that pattern, or one takes its weights from a file.
std::vector<RowMask> prune_together(const WorkloadTrace& trace, std::uint64_t run_seed);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/sparsity/mask.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The seed of a row: its own, or one made from the run's seed and its id, so that adding or
/// moving rows changes no other row's mask.
std::uint64_t row_seed(const LayerOp& op, std::uint64_t run_seed);

/// True if the file of a pattern has an element for each block; else one for each element.
bool is_grid_of_blocks(const PatternSpec& spec);

/// The mask of the row `op` of `trace`, with files read, references followed and changes of
/// the pattern (`repattern` rows) applied; empty where the operand is dense. TraceError or
/// RequestError if it cannot be made.
std::optional<Mask> make_mask(const LayerOp& op, const WorkloadTrace& trace,
                              std::uint64_t run_seed);

/// A text that is the same for two rows whose masks come from the same pattern, shape, seed and
/// changes. Such masks are equal. It says nothing of masks that are equal by chance.
std::string mask_key(const LayerOp& op, const WorkloadTrace& trace, std::uint64_t run_seed);

/// The non-zeros of X (k x n) of the row `op`; empty where X is dense.
std::optional<Mask> make_x_mask(const LayerOp& op, std::uint64_t run_seed);

}  // namespace lacuna

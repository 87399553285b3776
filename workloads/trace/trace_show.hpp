// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a workload asks for, as text: a row for each operation with its shape, pattern, density
/// really used and products; the totals; and how evenly the kept elements of each mask lie. Tables
/// that are wider than `most` letters go on below themselves; 0: as wide as they are.
std::string show_trace(const WorkloadTrace& trace, std::uint64_t run_seed, std::size_t most = 0);

/// The mask of the row `id` as a picture: a letter for each part of the matrix, denser to the right
/// of " .:-=+*#%@", on a scale from 0 to the densest part. RequestError if no such row has a mask.
std::string draw_mask(const WorkloadTrace& trace, const std::string& id, std::uint64_t run_seed);

/// Reads and checks a trace and says what it holds, in one line. TraceError with all problems.
std::string check_trace(const std::string& path);

}  // namespace lacuna

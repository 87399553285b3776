// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a workload asks for, as text. Each operation has a row with its shape, pattern, density
/// really used and products. Then come the totals, and how evenly the kept elements of each mask
/// lie. Tables wider than `most` letters go on below themselves; 0: as wide as they are.
std::string show_trace(const WorkloadTrace& trace, std::uint64_t run_seed, std::size_t most = 0);

/// The mask of the row `id` as a picture. A letter stands for each part of the matrix, from "
/// .:-=+*#%@": from 0 to the densest part. RequestError if no such row has a mask.
std::string draw_mask(const WorkloadTrace& trace, const std::string& id, std::uint64_t run_seed);

/// Reads and checks a trace and says what it holds, in one line. TraceError with all problems.
std::string check_trace(const std::string& path);

}  // namespace lacuna

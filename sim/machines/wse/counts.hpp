// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/task_stats.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/interval_series.hpp"

namespace lacuna {

struct WseParams;

/// All that a wafer counts, whatever it runs.
std::vector<DeclaredStatistic> wafer_statistics();

/// What cores that run tasks have counted.
CountsSoFar task_counts(const wse::TaskStats& stats);

/// What a wafer has counted; all that passes its edge is payload.
CountsSoFar wafer_counts(const wse::WaferStats& stats);

/// What `units` cores can do in a cycle whose datapaths do `simd` multiply-accumulates each. Memory
/// without limits (mem.model = none) gives the widest beat three reads and a write of 32 bits.
Peaks core_peaks(const WseParams& params, unsigned simd, std::uint64_t units);

}  // namespace lacuna

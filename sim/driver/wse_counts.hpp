// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/wse/task_stats.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/report/interval_series.hpp"

namespace lacuna {

/// What cores that run tasks have counted.
CountsSoFar task_counts(const wse::TaskStats& stats);

/// What a wafer has counted; all that passes its edge is payload.
CountsSoFar wafer_counts(const wse::WaferStats& stats);

/// An operation without parts that follow each other is one phase.
PhaseTraffic whole_phase(const std::string& name, const OpResult& result);

}  // namespace lacuna

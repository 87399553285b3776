// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/simulate.hpp"
#include "sim/report/result.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {

/// Compares what the cores hold with the product in their own arithmetic and order of additions,
/// and what they took from other groups with what is held there; the largest error is that of this
/// arithmetic against exact integers.
ValueCheck check_streamed(const wse::StreamingJob& job, const wse::StreamingPlan& plan,
                          const wse::WaferOutcome& outcome);

}  // namespace lacuna

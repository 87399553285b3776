// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "workloads/mapping/wse/gradient.hpp"
#include "workloads/mapping/wse/stream_rule.hpp"

namespace lacuna::wse {

/// The layouts of one sampled gradient, with groups side by side that share the rows of Y and dY in
/// ring order, on a rectangle of at most setup.wafer, by their estimates. The mask is not counted:
/// `counts` says what it keeps.
std::vector<StreamLayout> gradient_layouts_by_rule(const GradientJob& job,
                                                   const WeightCounts& counts,
                                                   const GivenLayout& given,
                                                   const StreamingSetup& setup);

/// Of one in a layout that it shares with other rows.
RowCost gradient_cost(const GradientJob& job, const WeightCounts& counts,
                      const StreamingSetup& setup);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "workloads/mapping/wse/gradient.hpp"
#include "workloads/mapping/wse/stream_rule.hpp"

namespace lacuna::wse {

/// The layouts of one sampled gradient on a rectangle of at most setup.wafer, in the order of their
/// estimates. Groups lie side by side and share the rows of Y and dY in ring order. The mask is not
/// counted: `counts` says what it keeps.
std::vector<StreamLayout> gradient_layouts_by_rule(const GradientJob& job,
                                                   const WeightCounts& counts,
                                                   const GivenLayout& given,
                                                   const StreamingSetup& setup);

/// Of one in a layout that it shares with other rows.
RowCost gradient_cost(const GradientJob& job, const WeightCounts& counts,
                      const StreamingSetup& setup);

}  // namespace lacuna::wse

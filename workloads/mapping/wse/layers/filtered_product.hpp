// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {

/// A `bmm` of operands that lie on the wafer. No zero of its X (request.x_mask) leaves its core.
/// Every core goes through its block of X once and lists what is not zero. The cores of a column
/// then send their lists to the whole column, one core after the other. The cores of a row send
/// their blocks of W whole, in the same order. Each element that arrives starts a
/// multiply-accumulate with a column of W. Y stays.
LayerPlan plan_filtered_product(const LayerRequest& request);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {

/// A `bmm` of operands that lie on the wafer, of whose X (request.x_mask) no zero leaves its core:
/// every core goes through its block of X once and lists what is not zero; the cores of a column
/// then send their lists to all of it, one core after the other, and each element that arrives
/// starts a multiply-accumulate with a column of the block of W, which the cores of a row send
/// whole, in the same order. Y stays.
LayerPlan plan_filtered_product(const LayerRequest& request);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"

namespace lacuna::wse {

/// Where a product with weights asks for them to live: automatic if that is left to what is faster,
/// as it is of dense ones; sparse ones that ask for nothing are streamed.
/// A mode that has its weights in the cores, or outside, says so too. UnsupportedError if mode and
/// residency contradict each other.
Residency residency_of(const LayerOp& op);

/// The kernel that multiplies weights which live there: `dense` without a mask, else `static`, the
/// pattern in the cores' memory, or `streamed`, whatever arrives.
Mode kernel_of(bool sparse, Residency residency);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machines/wse/gradient_op.hpp"
#include "sim/machines/wse/request.hpp"

namespace lacuna {

/// Run one behind the moves of its operands. Of the two of a dense one that with zeros is streamed.
OpResult run_gradient(const WaferRequest& request);
OpResult run_dense_gradient(const WaferRequest& request);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// All that a machine's relate() says of a row, for keys: where operands come from, and what of the
/// chip is left for it.
std::string relations_text(const LayerOp& op);

}  // namespace lacuna

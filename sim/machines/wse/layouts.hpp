// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/machines/layout_space.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The kind of products whose weights are streamed, or stay.
inline constexpr const char* kProductWithWeights = "product with weights";

/// How columns, rows of cores and their memories can share a product with weights, by kernel.
const std::vector<LayoutSpace>& wafer_layout_spaces();

/// The kind of an operation, empty if it has one layout only.
std::string wafer_layout_kind(const WseParams& params, const LayerOp& op);

}  // namespace lacuna

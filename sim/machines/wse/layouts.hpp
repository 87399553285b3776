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

/// Gradients of sparse weights, one by itself.
inline constexpr const char* kGradient = "gradient of sparse weights";

/// What has no weights and no stream, but a rectangle.
inline constexpr const char* kOnRectangle = "function or product of activations";

/// The same, where zeros may be left out.
inline constexpr const char* kMaskedProduct = "masked product of activations";

/// Words of layouts.
inline constexpr const char* kResidencyWord = "residency";  // of the row
inline constexpr const char* kColumnsWord = "wafer.columns";
inline constexpr const char* kRowsWord = "wafer.rows";
inline constexpr const char* kIoShareWord = "io.share";
inline constexpr const char* kGroupsWord = "ws.groups";
inline constexpr const char* kReduceWord = "ws.reduce";
inline constexpr const char* kOrderWord = "ws.row_order";
inline constexpr const char* kLieWord = "ws.lie";
inline constexpr const char* kInjectWord = "ws.inject";

/// How columns, rows of cores and their memories can share a product with weights, by kernel.
const std::vector<LayoutSpace>& wafer_layout_spaces();

/// The space of an operation; null if it has one layout only.
const LayoutSpace* wafer_layout_space(const WseParams& params, const LayerOp& op);

/// Whether a row works on what nobody else has on the wafer, and so on all of its cores.
bool has_all_cores(const LayerOp& op);

/// The kind of an operation, empty if it has one layout only.
std::string wafer_layout_kind(const WseParams& params, const LayerOp& op);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/mapping/system/model_parts.hpp"

namespace lacuna::system {

/// What is there of a micro-batch beside the weights while a block works, row by row: a result
/// lives from the row that makes it to the last that reads it, be that in the backward pass.
/// Products need their operands for the gradient of their weights, norms and activation functions
/// theirs, softmax its result; sums, scales and dropout overwrite what nobody reads later. A
/// product that is added to the gradients is there until it is. Where chips share the sequence,
/// operands of products are gathered for as long as the product takes.
///
/// `input_bytes` is what this chip holds of the block's input, which is not counted;
/// `gradient_bytes` of the gradient of its result, which is.
LiveBytes live_bytes(const PartRows& rows, std::uint64_t input_bytes, std::uint64_t gradient_bytes);

/// The same of a chip that does all rows of a trace, one micro-batch of a step: forward, then
/// backward, for which rows may be done again (`*_again`). Rows of an optimizer have no results.
LiveBytes live_bytes(const std::vector<LayerOp>& step);

}  // namespace lacuna::system

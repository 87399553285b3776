// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/wse/inference/core_code.hpp"

namespace lacuna::wse {

/// Keys and values that a row of cores gets from its end, tensor by tensor: a core keeps the last
/// piece of what it takes and sends the others on, one after the other, before it takes the next.
/// Two colors by parity. The way out is the same backwards: a core sends its own, then passes on.
struct RowFill {
  std::uint32_t cores = 1;
  std::uint32_t tensors = 1;
  std::uint32_t halves = 1;  // of a core's piece of a tensor
  bool outwards = false;
};
TaskProgram plan_row_fill(const RowFill& job, const CodeCosts& costs,
                          const InferenceParams& params);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// What tests multiply: elements, and what their products are added in.
inline constexpr Types kHalf{DType::fp16, DType::fp16};
inline constexpr Types kMixed{DType::fp16, DType::fp32};
inline constexpr Types kSingle{DType::fp32, DType::fp32};

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/sparsity/mask.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::ipu {

/// How a user holds a sparse operand on the host.
enum class UserFormat : std::uint8_t { csr, coo, bsr };

/// Bytes of an operand in a user's format: values, and indices of 2 bytes where they suffice, else
/// 4; offsets of rows have 4.
struct FormatBytes {
  std::uint64_t values = 0;
  std::uint64_t indices = 0;

  std::uint64_t total() const { return values + indices; }
};
FormatBytes user_bytes(UserFormat format, const Mask& mask, DType type);

}  // namespace lacuna::ipu

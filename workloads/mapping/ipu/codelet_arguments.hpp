// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna::ipu {

/// What a vertex is told, in the widths of its registers: planners check that it fits.
inline std::int32_t count(std::uint64_t n) { return static_cast<std::int32_t>(n); }
inline std::uint32_t arg(std::uint64_t n) { return static_cast<std::uint32_t>(n); }

}  // namespace lacuna::ipu

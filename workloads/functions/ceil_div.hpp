// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna {

/// The least integer that is not below a / b.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// The least multiple of b that is not below a.
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) { return ceil_div(a, b) * b; }

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace lacuna {

/// Numbers that are given in place of drawn ones: of the operand with a seed, by position.
using GivenOperands = std::map<std::uint64_t, std::vector<float>>;

}  // namespace lacuna

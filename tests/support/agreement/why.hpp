// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/why.hpp"

namespace lacuna::test {

/// What the program says with --why --json of these arguments, of its first run; nothing if it says
/// nothing.
std::optional<Why> why_of(const std::vector<std::string>& arguments);

}  // namespace lacuna::test

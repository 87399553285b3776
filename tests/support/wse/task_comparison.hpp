// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "tests/support/wse/random_tasks.hpp"

namespace lacuna::wse {

/// What came of comparing a case: "" if all agree, "waits" if the oracle does not end within its
/// patience, else who differs from it and where.
std::string compare_tasks(const TaskCase& made, std::uint64_t seed);

/// The smallest case that can be reached from random_tasks(seed) by leaving out streams, steps,
/// parameters and values and still differs, with the difference, as text.
std::string reduce_tasks(std::uint64_t seed);

}  // namespace lacuna::wse

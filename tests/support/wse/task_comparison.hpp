// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/support/wse/random_tasks.hpp"

namespace lacuna::wse {

/// What came of comparing a case: "" if all agree, "waits" if neither the oracle nor the engine
/// ends within the oracle's patience, else who differs from the oracle and where.
std::string compare_tasks(const TaskCase& made, std::uint64_t seed);

inline bool differs(const std::string& result) { return !result.empty() && result != "waits"; }

/// The smallest case that can be reached from `made` by leaving out steps, parameters and values
/// and still differs, with the difference, as text.
std::string reduce_tasks(TaskCase made, std::uint64_t seed);

/// The same of random_tasks(seed), whose streams are left out first.
std::string reduce_random_tasks(std::uint64_t seed);

}  // namespace lacuna::wse

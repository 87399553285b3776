// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "models/wse/wafer.hpp"
#include "tests/support/wse/streaming_bench.hpp"

namespace lacuna::wse {

/// How the rows of a random mesh share the tokens.
enum class Rows { one_class, remainder, unequal, random_blocks };

/// A random mesh, its parameters and its work; the same for the same seed.
StreamingScenario random_scenario(std::uint64_t seed, Rows rows);

/// The same with any way of partial sums, not the ring alone.
StreamingScenario random_reduction(std::uint64_t seed, Rows rows);

/// The parameters of a scenario, for the report of a failing case.
std::string describe(const StreamingScenario& scenario);

/// Empty if two outcomes are the same, else the first difference.
std::string difference(const WaferOutcome& expected, const WaferOutcome& found);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace lacuna::test {

/// How often a random test draws its cases: once, or LACUNA_LONG times, which
/// `scripts/ci/full.sh long` sets.
inline std::uint64_t long_factor() {
  const char* const text = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

}  // namespace lacuna::test

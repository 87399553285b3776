// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lacuna::test {

/// How many seeds a random test takes one after the other: a process for each takes longer to begin
/// than most cases take to run.
inline constexpr std::uint64_t kSeedsAtOnce = 10;

/// Those seeds, from `first` on.
inline std::array<std::uint64_t, kSeedsAtOnce> seeds_from(std::uint64_t first) {
  std::array<std::uint64_t, kSeedsAtOnce> seeds{};
  for (std::uint64_t& seed : seeds) seed = first++;
  return seeds;
}

}  // namespace lacuna::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/random.hpp"

// Compiles a function for wide vectors too; which is called is chosen when the program starts.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define LACUNA_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LACUNA_WIDE
#endif

namespace lacuna {

/// What a Random draws, a block of numbers at a time and some times faster: lanes draw different
/// stretches of the block in the same instructions. A lane's state goes from its stretch to that of
/// the next block by a matrix over the field of two, as xoshiro256** is linear. The matrix costs as
/// much as some millions of numbers; beyond them it is worth it.
class BulkRandom {
 public:
  static constexpr unsigned kLanes = 8;
  static constexpr unsigned kStretch = 1024;  // numbers of a lane
  static constexpr unsigned kBlock = kLanes * kStretch;

  explicit BulkRandom(const Random& random);

  /// Draws the next block; what the last call returned is gone. Number i of it is at place(i).
  const std::uint64_t* draw();

  /// Lane by lane: number i of a block is number i % kStretch of lane i / kStretch.
  static constexpr unsigned place(unsigned i) { return i % kStretch * kLanes + i / kStretch; }

 private:
  // Part p of the state of lane l is state_[p][l].
  std::array<std::array<std::uint64_t, kLanes>, 4> state_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/random.hpp"

namespace lacuna {

/// Chooses `keep` of `positions` positions, uniformly over all such choices: position p is kept
/// if bounded(positions - p) < what is left to keep; nothing is drawn once nothing is left.
/// The positions are walked in pieces, so that a mask is written row by row.
class Chooser {
 public:
  Chooser(std::uint64_t positions, std::uint64_t keep) : positions_(positions), keep_(keep) {}

  /// Walks the next `width` positions and writes the kept ones, counted from 0, to `out`, which
  /// has room for one more than there can be. Returns the end of what was written.
  std::uint32_t* walk(Random& random, std::uint32_t width, std::uint32_t* out) {
    std::uint32_t at = 0;
    while (at < width && keep_ != 0 && positions_ > 1) {
      // Up to the next power of two the draws have the same number of bits.
      unsigned bits = 0;
      for (std::uint64_t x = positions_ - 1; x != 0; x >>= 1U) ++bits;
      const std::uint64_t until_fewer_bits = positions_ - (std::uint64_t{1} << (bits - 1U));
      const std::uint64_t end = std::min<std::uint64_t>(width, at + until_fewer_bits);
      out = walk_bits(random, 64U - bits, static_cast<std::uint32_t>(end), at, out);
      if (keep_ == 0) break;
    }
    if (at < width && keep_ != 0 && positions_ == 1) {  // the last one, without a draw
      *out++ = at;
      keep_ = positions_ = 0;
    }
    return out;
  }

 private:
  // A draw is a hit (below n) or is drawn anew, and a hit below `left` is kept: written without
  // branches, as a processor cannot foresee either.
  std::uint32_t* walk_bits(Random& shared, unsigned shift, std::uint32_t end, std::uint32_t& at,
                           std::uint32_t* out) {
    Random random = shared;
    std::uint64_t n = positions_;
    std::uint64_t left = keep_;
    std::uint32_t p = at;
    while (p < end && left != 0) {
      const std::uint64_t r = random.next() >> shift;
      *out = p;
      const bool kept = r < left;
      const bool hit = r < n;
      out += kept ? 1 : 0;
      left -= kept ? 1 : 0;
      n -= hit ? 1 : 0;
      p += hit ? 1 : 0;
    }
    shared = random;
    positions_ = n;
    keep_ = left;
    at = p;
    return out;
  }

  std::uint64_t positions_;  // not yet walked
  std::uint64_t keep_;       // of them
};

}  // namespace lacuna

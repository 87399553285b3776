// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/mix.hpp"

namespace lacuna {

/// 64-bit FNV-1a of the bytes of `text` (Fowler, Noll and Vo; public domain).
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

/// The seed of the row or unit `name` in a run of seed `run_seed`.
constexpr std::uint64_t stream_seed(std::uint64_t run_seed, std::string_view name) {
  return mix(run_seed ^ fnv1a(name));
}

/// xoshiro256** 1.0 (Blackman and Vigna, public domain), its state four successive outputs of
/// SplitMix64 started from the seed. Everything random that reaches a result is drawn from it.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// With this state, for checks against published outputs.
  explicit Random(const std::array<std::uint64_t, 4>& state) : state_(state) {}

  // In the header, because masks of 10^8 positions draw once for each.
  std::uint64_t next() {
    const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate_left(state_[3], 45);
    return result;
  }

  const std::array<std::uint64_t, 4>& state() const { return state_; }

  /// An integer in [0, n), n >= 1: the top bits of next(), drawn anew until they are below n.
  /// Draws nothing for n = 1.
  std::uint64_t bounded(std::uint64_t n);

  /// In [0, 1), a multiple of 2^-53.
  double unit();

  /// Standard normal by Box-Muller, in pairs. Its last bits depend on the C library.
  double gauss();

 private:
  static constexpr std::uint64_t rotate_left(std::uint64_t x, unsigned by) {
    return (x << by) | (x >> (64U - by));
  }

  std::array<std::uint64_t, 4> state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "models/common/fp16.hpp"
#include "sim/base/mix.hpp"

namespace lacuna {

/// How a result that lies between two fp16 numbers becomes one of them.
enum class RoundMode : std::uint8_t {
  nearest,     // ties to even
  stochastic,  // up with the probability of its distance from the lower: right on average
};

/// Random bits that one stochastic rounding draws.
inline constexpr unsigned kBitsOfARounding = 32;

/// Rounds to the number above (in magnitude) with the probability of the distance from the one
/// below, decided by `random`, which is uniform; exact in 2^-32. Too large becomes infinity, NaN
/// stays a (quiet) NaN, and what fp16 can hold stays as it is.
inline Half to_half_stochastic(float value, std::uint32_t random) {
  const std::uint32_t bits = detail::bits_of(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<Half>(sign | 0x7e00U);
  if (magnitude >= 0x47800000U) return static_cast<Half>(sign | 0x7c00U);  // 65536 and above
  if (magnitude >= 0x38800000U) {
    const std::uint32_t raised = magnitude - 0x38000000U + (random >> 19U);  // 13 bits go
    return static_cast<Half>(sign | (raised >> 13U));
  }
  if (magnitude < 0x00800000U) return static_cast<Half>(sign);  // below 2^-126: never up
  const std::uint64_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  const unsigned shift = 126U - (magnitude >> 23U);
  if (shift <= 32)
    return static_cast<Half>(sign | ((mantissa + (random >> (32 - shift))) >> shift));
  const bool up = shift < 64 && random + (mantissa >> (shift - 32)) >= std::uint64_t{1} << 32U;
  return static_cast<Half>(sign | (up ? 1U : 0U));
}

/// Makes fp16 results of sums, in the mode of the tile, and counts what did not fit. Each worker
/// draws from a stream of its own, so that a result depends on the seed, the worker, and how many
/// results that worker has rounded before; not on the engine.
class HalfRounding {
 public:
  static constexpr unsigned kMostWorkers = 16;

  HalfRounding() = default;
  HalfRounding(RoundMode mode, std::uint64_t seed, unsigned workers)
      : mode_(mode), seed_(seed), workers_(workers) {}

  RoundMode mode() const { return mode_; }
  unsigned workers() const { return workers_; }

  /// The worker whose results follow, below workers().
  void use_worker(unsigned worker) { worker_ = worker; }

  Half operator()(float value) {
    const Half half =
        mode_ == RoundMode::nearest ? to_half(value) : to_half_stochastic(value, draw());
    const auto magnitude = static_cast<Half>(half & 0x7fffU);
    if (magnitude == 0x7c00U && std::isfinite(value)) ++overflows_;
    if (magnitude < 0x0400U && value != 0 && to_float(half) != value) ++underflows_;
    return half;
  }

  /// Finite numbers that became infinite.
  std::uint64_t overflows() const { return overflows_; }

  /// Numbers below the least normal one (2^-14) that lost bits, or all.
  std::uint64_t underflows() const { return underflows_; }

 private:
  std::uint32_t draw() {
    const std::uint64_t stream = mix(seed_ + worker_);
    return static_cast<std::uint32_t>(mix(stream + drawn_.at(worker_)++) >> 32U);
  }

  RoundMode mode_ = RoundMode::nearest;
  std::uint64_t seed_ = 0;
  unsigned workers_ = 1;
  unsigned worker_ = 0;
  std::array<std::uint64_t, kMostWorkers> drawn_{};
  std::uint64_t overflows_ = 0;
  std::uint64_t underflows_ = 0;
};

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "sim/base/random.hpp"

#include <cassert>
#include <cmath>

#include "sim/base/bits.hpp"

namespace lacuna {

Random::Random(std::uint64_t seed) : state_{} {
  constexpr std::uint64_t kIncrement = 0x9e3779b97f4a7c15U;
  for (std::uint64_t& word : state_) {
    word = mix(seed);  // mix() adds the increment before it scatters, as SplitMix64 does
    seed += kIncrement;
  }
}

std::uint64_t Random::bounded(std::uint64_t n) {
  assert(n >= 1);
  if (n == 1) return 0;
  const unsigned shift = 64U - bit_width(n - 1);
  for (;;) {
    const std::uint64_t r = next() >> shift;
    if (r < n) return r;
  }
}

double Random::unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

double Random::gauss() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  constexpr double kTwoPi = 6.283185307179586476925286766559;
  const double u1 = 1 - unit();
  const double u2 = unit();
  const double radius = std::sqrt(-2 * std::log(u1));
  spare_ = radius * std::sin(kTwoPi * u2);
  has_spare_ = true;
  return radius * std::cos(kTwoPi * u2);
}

}  // namespace lacuna

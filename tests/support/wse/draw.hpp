// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/mix.hpp"

namespace lacuna::wse {

/// What chance decides in a random case: the same for the same seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(mix(seed)) {}

  /// In [low, high].
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(next() % (std::uint64_t{high} - low + 1));
  }

  bool chance(std::uint32_t percent) { return next() % 100 < percent; }

  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[next() % all.size()];
  }

  std::uint64_t next() { return mix(seed_ + ++drawn_); }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace lacuna::wse

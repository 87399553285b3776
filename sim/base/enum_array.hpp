// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace lacuna {

/// An array with an entry for each of the first `count` values of an enumeration, found by it.
template <typename Enum, typename T, std::size_t count>
struct EnumArray : std::array<T, count> {
  using std::array<T, count>::operator[];
  constexpr T& operator[](Enum at) { return (*this)[static_cast<std::size_t>(at)]; }
  constexpr const T& operator[](Enum at) const { return (*this)[static_cast<std::size_t>(at)]; }
};

}  // namespace lacuna

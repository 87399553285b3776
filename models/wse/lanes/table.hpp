// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lacuna::wse::lanes {

/// An array for what is compiled for several widths: it has no code that a linker could merge.
template <class T, int N>
struct Table {
  T items[N];  // NOLINT(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)

  [[gnu::always_inline]] constexpr T& operator[](long i) { return items[i]; }
  [[gnu::always_inline]] constexpr const T& operator[](long i) const { return items[i]; }
  [[gnu::always_inline]] constexpr T* begin() { return &items[0]; }
  [[gnu::always_inline]] constexpr T* end() { return begin() + N; }
  [[gnu::always_inline]] constexpr const T* begin() const { return &items[0]; }
  [[gnu::always_inline]] constexpr const T* end() const { return begin() + N; }
};

}  // namespace lacuna::wse::lanes

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lacuna::wse {

/// Sixteen bytes of small signed integers that are computed with at once: the same quantity of
/// neighbouring units. A comparison gives -1 (all bits) where it holds and 0 elsewhere, so
/// subtracting one counts. GCC and clang have such types on every processor.
template <class Number>
struct LanesOf {
  typedef Number Type __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  static constexpr unsigned kCount = 16 / sizeof(Number);
};

/// One lane: a unit by itself, with numbers of any size.
template <>
struct LanesOf<std::int64_t> {
  typedef std::int64_t Type __attribute__((vector_size(8)));  // NOLINT(modernize-use-using)
  static constexpr unsigned kCount = 1;
};

template <class Number>
using Lanes = typename LanesOf<Number>::Type;

/// Lanes of so many units, in whole blocks.
template <class Number>
constexpr std::size_t whole_blocks(std::size_t units) {
  constexpr std::size_t kWidth = LanesOf<Number>::kCount;
  return (units + kWidth - 1) / kWidth * kWidth;
}

template <class Number>
inline Lanes<Number> load(const Number* from) {
  Lanes<Number> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class Number>
inline void store(Number* to, const Lanes<Number>& lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

/// A number in every lane, which holds it.
template <class Number>
inline Lanes<Number> all_lanes(std::uint64_t number) {
  return Lanes<Number>{} + static_cast<Number>(number);  // NOLINT(bugprone-narrowing-conversions)
}

/// -1 in the lanes that stand for units, of which there are so many; the first lane is unit
/// `first`.
template <class Number>
inline Lanes<Number> lanes_below(std::size_t units, std::size_t first) {
  Lanes<Number> lanes{};
  for (unsigned i = 0; i < LanesOf<Number>::kCount && first + i < units; ++i) lanes[i] = -1;
  return lanes;
}

/// True if a bit is set in any lane.
template <class Vector>
inline bool any(const Vector& lanes) {
  if constexpr (sizeof lanes == 8) {
    return lanes[0] != 0;
  } else {
    static_assert(sizeof lanes == 16);
    std::array<std::uint64_t, 2> halves{};
    std::memcpy(halves.data(), &lanes, sizeof lanes);
    return (halves[0] | halves[1]) != 0;
  }
}

/// `a` where `mask` is set, `b` elsewhere.
template <class Mask, class Vector>
inline Vector select(const Mask& mask, const Vector& a, const Vector& b) {
  const Vector bits = mask;
  return (bits & a) | (~bits & b);
}

/// Calls `visit` with the number of each lane that is -1; the others are 0. The host is
/// little-endian.
template <class Number, class Vector, class Visit>
inline void for_each_lane(const Vector& lanes, const Visit& visit) {
  if constexpr (sizeof lanes == 8) {
    if (lanes[0] != 0) visit(0);
  } else {
    constexpr unsigned kBits = 8 * sizeof(Number);
    constexpr unsigned kPerHalf = 64 / kBits;
    constexpr std::uint64_t kLane = (std::uint64_t{1} << kBits) - 1;
    static_assert(sizeof lanes == 16);
    std::array<std::uint64_t, 2> halves{};
    std::memcpy(halves.data(), &lanes, sizeof lanes);
    for (unsigned half = 0; half < 2; ++half) {
      std::uint64_t left = halves.at(half);
      while (left != 0) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctzll(left)) / kBits;
        visit(half * kPerHalf + lane);
        left &= ~(kLane << (lane * kBits));
      }
    }
  }
}

}  // namespace lacuna::wse

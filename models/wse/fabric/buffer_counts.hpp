// SPDX-License-Identifier: Apache-2.0
#pragma once

// What routers count of the words in their buffers. A statistic of them is a name, a member and its
// line in cycle(), all in this file: routers one by one, as modules and in lanes follow, and so do
// results of tasks. lanes/step.hpp has this compiled for several widths, so it includes nothing.

namespace lacuna::wse {

/// The words of a statistic.
struct BufferCountWords {
  const char* name;
  const char* unit;
  const char* doc;
  const char* action;  // the row of the energy table that prices it, if any
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
inline constexpr BufferCountWords kBufferCountWords[] = {
    {"stalls", "cycles", "A word at the head of a buffer stayed there.", nullptr},
};
// NOLINTNEXTLINE(cppcoreguidelines-pro-bounds-array-to-pointer-decay)
inline constexpr int kBufferCounts = sizeof kBufferCountWords / sizeof *kBufferCountWords;

/// First the statistics, in the order of their names, each of which is taken from here and added
/// up; then what is remembered. A Value is a Lanes, one lane of a router by itself, or their sums.
template <class Value>
struct BufferCounts {
  Value stalls{};

  /// A cycle: lanes (-1) in which there is a `head`, in which it `leaves`, and how many words
  /// have arrived(), the head included.
  template <class Arrived>
  [[gnu::always_inline]] void cycle(const Value& head, const Value& leaves,
                                    const Arrived& /*arrived*/) {
    stalls -= head & ~leaves;
  }

  [[gnu::always_inline]] Value& statistic(int number) {
    return reinterpret_cast<Value*>(this)[number];
  }
  [[gnu::always_inline]] const Value& statistic(int number) const {
    return reinterpret_cast<const Value*>(this)[number];
  }
};

}  // namespace lacuna::wse

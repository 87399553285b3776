// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"

namespace lacuna {

/// Appointments of numbered blocks, in the order of cycles. Near ones, which are nearly all, lie
/// in a ring with one bucket per cycle; the others wait in a heap. Both are exact.
class Agenda {
 public:
  /// Books `block` for cycle `at`, or for the first cycle not yet taken if `at` is before it.
  void book(Cycle at, std::uint32_t block);

  /// The earliest cycle booked; kNever if there is none.
  Cycle next() const;

  /// Moves the appointments of all cycles up to `now` to the end of `due`. A block that was
  /// booked twice is there twice.
  void take(Cycle now, std::vector<std::uint32_t>& due);

 private:
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t kWords = 4;
  static constexpr std::size_t kBuckets = kWords * kWordBits;
  using Appointment = std::pair<Cycle, std::uint32_t>;

  Cycle next_near() const;

  Cycle first_ = 0;  // the earliest cycle not yet taken; the ring holds [first_, first_ + kBuckets)
  std::size_t near_ = 0;
  std::array<std::vector<std::uint32_t>, kBuckets> ring_;
  std::array<std::uint64_t, kWords> occupied_{};  // a bit per bucket
  std::priority_queue<Appointment, std::vector<Appointment>, std::greater<>> far_;
};

}  // namespace lacuna

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

namespace lacuna::wse {

/// A router or a core of the wafer: its place in the row-major list of both, see Units.
using UnitId = std::uint32_t;
inline constexpr UnitId kNoUnit = ~UnitId{0};

/// The appointments of the units of one row: a wheel for the next 64 cycles and a heap beyond.
class RowAgenda {
 public:
  explicit RowAgenda(std::size_t units) : booked_(units, 0) {}

  /// `at` is later than the cycle collected last.
  void add(std::uint32_t unit, Cycle at) {
    if (at - collected_ >= kWheel) {
      later_.emplace(at, unit);
      return;
    }
    const std::uint64_t mark = std::uint64_t{1} << (at % kWheel);
    if ((booked_[unit] & mark) != 0) return;
    booked_[unit] |= mark;
    occupied_ |= mark;
    wheel_[at % kWheel].push_back(unit);
  }

  /// Takes out the units due in cycle `now`; no earlier appointment may be left.
  void collect(Cycle now, std::vector<std::uint32_t>& due) {
    due.clear();
    const std::uint64_t mark = std::uint64_t{1} << (now % kWheel);
    std::swap(due, wheel_[now % kWheel]);
    occupied_ &= ~mark;
    for (const std::uint32_t unit : due) booked_[unit] &= ~mark;
    for (; !later_.empty() && later_.top().first <= now; later_.pop()) {
      due.push_back(later_.top().second);
    }
    collected_ = now;
  }

  /// The first cycle with an appointment, kNever if there is none.
  Cycle next() const {
    Cycle first = later_.empty() ? kNever : later_.top().first;
    if (occupied_ == 0) return first;
    for (Cycle at = collected_ + 1;; ++at) {
      if ((occupied_ >> (at % kWheel) & 1U) != 0) return at < first ? at : first;
    }
  }

 private:
  static constexpr Cycle kWheel = 64;
  using Appointment = std::pair<Cycle, std::uint32_t>;

  Cycle collected_ = 0;
  std::uint64_t occupied_ = 0;         // wheel slots with appointments
  std::vector<std::uint64_t> booked_;  // per unit, the wheel slots it is in
  std::array<std::vector<std::uint32_t>, kWheel> wheel_;
  std::priority_queue<Appointment, std::vector<Appointment>, std::greater<>> later_;
};

/// Who wakes a row that sleeps.
class RowWaker {
 public:
  RowWaker() = default;
  RowWaker(const RowWaker&) = delete;
  RowWaker& operator=(const RowWaker&) = delete;
  virtual ~RowWaker() = default;
  virtual void wake_row(std::size_t row, Cycle at) = 0;
};

/// The agendas of all rows. Empty if every unit is stepped in every cycle.
class Agendas {
 public:
  void start(std::size_t rows, std::size_t units_per_row, RowWaker& waker) {
    units_per_row_ = static_cast<UnitId>(units_per_row);
    rows_.assign(rows, RowAgenda(units_per_row));
    waker_ = &waker;
  }

  bool active() const { return waker_ != nullptr; }

  /// Has `unit` stepped in cycle `at`.
  void wake(UnitId unit, Cycle at) {
    if (waker_ == nullptr || unit == kNoUnit) return;
    const std::size_t row = unit / units_per_row_;
    rows_[row].add(unit % units_per_row_, at);
    if (row != stepping_) waker_->wake_row(row, at);
  }

  RowAgenda& row(std::size_t index) { return rows_[index]; }

  /// The row being stepped tells the clock itself when it wants to be stepped again.
  void set_stepping(std::size_t row) { stepping_ = row; }

  static constexpr std::size_t kNone = ~std::size_t{0};

 private:
  UnitId units_per_row_ = 1;
  std::size_t stepping_ = kNone;
  std::vector<RowAgenda> rows_;
  RowWaker* waker_ = nullptr;
};

}  // namespace lacuna::wse

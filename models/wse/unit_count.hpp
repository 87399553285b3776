// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// What a unit counts is declared once, as a member of a template over the kind of its members, with
// the words of the statistic that it is summed in. Of `UnitCount` it is what each unit holds; of
// TotalsOf<Unit>::Total (totals.hpp) the same members are statistics, each the sum of its number.

namespace lacuna::wse {

/// A number that a unit counts. The words of its statistic say nothing here.
class UnitCount {
 public:
  struct Home {};  // in place of a group of statistics

  /// One that is in no result of its own.
  using Silent = UnitCount;

  /// A statistic of all units that none counts: its place among the others.
  class OfAll {
   public:
    template <class... Words>
    explicit OfAll(const Home* /*home*/, Words... /*words*/) {}

   private:
    [[maybe_unused]] std::uint64_t unused_ = 0;
  };

  template <class... Words>
  explicit UnitCount(const Home* /*home*/, Words... /*words*/) {}

  UnitCount& operator=(std::uint64_t value) {
    value_ = value;
    return *this;
  }
  UnitCount& operator+=(std::uint64_t more) {
    value_ += more;
    return *this;
  }
  UnitCount& operator++() {
    ++value_;
    return *this;
  }
  operator std::uint64_t() const { return value_; }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Units of nothing but 64-bit numbers, as these.
template <class Unit>
using CountsOf = std::array<std::uint64_t, sizeof(Unit) / sizeof(std::uint64_t)>;

template <class Unit>
CountsOf<Unit> counts_of(const Unit& unit) {
  static_assert(std::has_unique_object_representations_v<Unit>, "it holds numbers alone");
  CountsOf<Unit> numbers;
  static_assert(sizeof(numbers) == sizeof(Unit));
  std::memcpy(numbers.data(), &unit, sizeof(numbers));
  return numbers;
}

/// Adds each number of `more`, as if there were so many of it.
template <class Unit>
void add_all_counts(Unit& sum, const Unit& more, std::uint64_t times) {
  CountsOf<Unit> numbers = counts_of(sum);
  const CountsOf<Unit> added = counts_of(more);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += added[i] * times;
  std::memcpy(static_cast<void*>(&sum), numbers.data(), sizeof(numbers));
}

template <class Unit>
bool same_counts(const Unit& a, const Unit& b) {
  return counts_of(a) == counts_of(b);
}

}  // namespace lacuna::wse

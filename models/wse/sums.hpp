// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::wse {

/// Statistics of units that count in plain numbers, `Unit`. One that is declared with such a number
/// is its sum over units; that it is named nowhere else is the point.
template <class Unit>
class SumsOf : public StatGroup {
 public:
  using StatGroup::StatGroup;
  using Number = std::uint64_t Unit::*;
  using Taken = std::uint64_t (*)(const Unit&);

  /// Adds what one unit has counted, as if there were so many of it.
  void add(const Unit& unit, std::uint64_t times = 1) {
    for (const auto& [counter, number] : numbers_) *counter += unit.*number * times;
    for (const auto& [counter, taken] : taken_) *counter += taken(unit) * times;
  }

  /// A sum of numbers.
  class Sum : public Counter {
   public:
    Sum(SumsOf* group, Number number, const char* name, const char* unit, const char* doc,
        const char* action = nullptr)
        : Counter(group, name, unit, doc, action) {
      group->numbers_.emplace_back(this, number);
    }
    Sum(SumsOf* group, Taken taken, const char* name, const char* unit, const char* doc,
        const char* action = nullptr)
        : Counter(group, name, unit, doc, action) {
      group->taken_.emplace_back(this, taken);
    }
  };

  /// A part of the cycle stack likewise.
  class CycleSum : public CycleCounter {
   public:
    CycleSum(SumsOf* group, Taken taken, const char* name, Layer layer, const char* doc)
        : CycleCounter(group, name, layer, doc) {
      group->taken_.emplace_back(this, taken);
    }
  };

 private:
  std::vector<std::pair<Counter*, Number>> numbers_;
  std::vector<std::pair<Counter*, Taken>> taken_;
};

/// The cycles that a core spends in one way.
template <auto kKind, class Unit>
std::uint64_t spent(const Unit& core) {
  return core.cycles[static_cast<std::size_t>(kKind)];
}

/// The words that a router passes on through one port.
template <std::size_t kPort>
std::uint64_t sent(const RouterCounters& router) {
  return router.sent[kPort];
}

/// What all routers count, whatever their cores run.
struct LinkSums : SumsOf<RouterCounters> {
  using SumsOf::SumsOf;
  Sum hops{this,
           [](const RouterCounters& router) {
             return router.sent[kNorth] + router.sent[kEast] + router.sent[kSouth] +
                    router.sent[kWest];
           },
           "hops",
           "wavelets",
           "Wavelets times links between routers.",
           "hop"};
  Sum north{this, sent<kNorth>, "sent_north", "wavelets", "Wavelets passed on to the north."};
  Sum east{this, sent<kEast>, "sent_east", "wavelets", "Wavelets passed on to the east."};
  Sum south{this, sent<kSouth>, "sent_south", "wavelets", "Wavelets passed on to the south."};
  Sum west{this, sent<kWest>, "sent_west", "wavelets", "Wavelets passed on to the west."};
};

}  // namespace lacuna::wse

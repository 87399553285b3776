// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/program/wavelet.hpp"
#include "models/wse/unit_count.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::wse {

/// Statistics of units that count in plain numbers, `Unit`: those that Unit::Declared declares
/// (unit_count.hpp), and those that are declared with what they sum. That none is named elsewhere
/// is the point.
template <class Unit>
class TotalsOf : public StatGroup {
 public:
  using StatGroup::StatGroup;
  using Held = std::uint64_t Unit::*;
  using Taken = std::uint64_t (*)(const Unit&);

  /// Adds what one unit has counted, as if there were so many of it.
  void add(const Unit& unit, std::uint64_t times = 1) {
    add_declared(unit, times, 0);
    for (const auto& [counter, number] : numbers_) *counter += unit.*number * times;
    for (const auto& [counter, taken] : taken_) *counter += taken(unit) * times;
  }

  /// A sum of numbers.
  class Total : public Counter {
   public:
    using Home = TotalsOf;
    struct Silent {
      explicit Silent(TotalsOf* group) { group->declared_.push_back(nullptr); }
    };
    struct OfAll : Counter {
      template <class... Words>
      explicit OfAll(TotalsOf* group, Words... words) : Counter(group, words...) {
        group->declared_.push_back(nullptr);
      }
    };

    /// Of the member of this place in Unit::Declared.
    Total(TotalsOf* group, const char* name, const char* unit, const char* doc,
          const char* action = nullptr)
        : Counter(group, name, unit, doc, action) {
      group->declared_.push_back(this);
    }
    Total(TotalsOf* group, Held number, const char* name, const char* unit, const char* doc,
          const char* action = nullptr)
        : Counter(group, name, unit, doc, action) {
      group->numbers_.emplace_back(this, number);
    }
    Total(TotalsOf* group, Taken taken, const char* name, const char* unit, const char* doc,
          const char* action = nullptr)
        : Counter(group, name, unit, doc, action) {
      group->taken_.emplace_back(this, taken);
    }
  };

  /// A part of the cycle stack likewise.
  class CycleTotal : public CycleCounter {
   public:
    CycleTotal(TotalsOf* group, Taken taken, const char* name, Layer layer, const char* doc)
        : CycleCounter(group, name, layer, doc) {
      group->taken_.emplace_back(this, taken);
    }
  };

 private:
  template <class Of>
  std::void_t<typename Of::Declared> add_declared(const Of& unit, std::uint64_t times,
                                                  int /*if there*/) {
    const auto numbers = counts_of(static_cast<const typename Of::Declared&>(unit));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (declared_[i] != nullptr) *declared_[i] += numbers[i] * times;
    }
  }
  template <class Of>
  void add_declared(const Of& /*unit*/, std::uint64_t /*times*/, long /*else*/) {}  // declares none

  std::vector<Counter*> declared_;  // null: no sum of a unit's number
  std::vector<std::pair<Counter*, Held>> numbers_;
  std::vector<std::pair<Counter*, Taken>> taken_;
};

/// Statistics that are declared as rows of words.
class RowStats {
 public:
  template <class Rows>
  RowStats(StatGroup* group, const Rows& rows) {
    for (const auto& row : rows) {
      counters_.emplace_back(group, row.name, row.unit, row.doc, row.action);
    }
  }
  /// `of(i)` is the number of a row.
  template <class Of>
  void add(const Of& of) {
    for (std::size_t i = 0; i < counters_.size(); ++i) counters_[i] += of(i);
  }

 private:
  std::deque<Counter> counters_;
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
struct LinkTotals : RouterCounts<TotalsOf<RouterCounters>::Total> {
  using RouterCounts::RouterCounts;
  Total hops{this,
             [](const RouterCounters& router) {
               return router.sent[kNorth] + router.sent[kEast] + router.sent[kSouth] +
                      router.sent[kWest];
             },
             "hops",
             "wavelets",
             "Wavelets times links between routers.",
             "hop"};
  Total north{this, sent<kNorth>, "sent_north", "wavelets", "Wavelets passed on to the north."};
  Total east{this, sent<kEast>, "sent_east", "wavelets", "Wavelets passed on to the east."};
  Total south{this, sent<kSouth>, "sent_south", "wavelets", "Wavelets passed on to the south."};
  Total west{this, sent<kWest>, "sent_west", "wavelets", "Wavelets passed on to the west."};
};

}  // namespace lacuna::wse

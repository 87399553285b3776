// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "models/wse/counters.hpp"
#include "models/wse/lanes.hpp"
#include "sim/base/error.hpp"

// What cores that stream count of what their control does, beside their stack and what is known
// from the program. A statistic of them is a row here and a count() in pe/stream_control.hpp: cores
// one by one, cores in lanes, rows alike and results follow.

namespace lacuna::wse {

/// A statistic of a core. One in "cycles" is of something that lasts: while a core sleeps it is
/// what it was in the cycle before. Nothing is counted before a core's first word or after its end,
/// so that rows alike count the same.
struct Tally {
  const char* name = "";
  const char* unit = "";
  const char* doc = "";
  const char* action = nullptr;  // the row of the energy table that prices it

  constexpr bool lasts() const { return std::string_view(unit) == "cycles"; }
};

inline constexpr std::array kStreamTallies{
    Tally{"buffer_blocked", "cycles",
          "A handler waited for a free partial-sum vector, beats or not."},
};
static_assert(kStreamTallies.size() <= std::tuple_size<StreamCounts>(),
              "raise the size of StreamCounts in counters.hpp");

/// The number of the row with this name; does not compile if there is none.
constexpr std::size_t stream_tally(std::string_view name) {
  for (std::size_t i = 0; i < kStreamTallies.size(); ++i) {
    if (name == kStreamTallies[i].name) return i;
  }
  throw InternalError("no such statistic of a core");
}

/// One number of each in every lane.
template <class Number>
using LaneTallies = std::array<Lanes<Number>, kStreamTallies.size()>;

/// Counts a cycle, or an event in it, in the lanes that are -1; once in a cycle.
template <std::size_t kTally, class State>
void count(State& state, const typename State::Vector& lanes) {
  state.tallies[kTally] -= lanes;
}

}  // namespace lacuna::wse

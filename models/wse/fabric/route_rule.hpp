// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/wse/lanes.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

// Where words go: which copies the head of a buffer makes, when it leaves, what its command does to
// the switch of its color. RouterArray asks for one head, routers in lanes for as many as a Lanes
// has.

namespace lacuna::wse {

/// Ways out of a router, of one head: its ports.
struct PortWays {
  using Heads = bool;

  PortSet ports = 0;

  bool has(unsigned port) const { return (ports & bit(port)) != 0; }
  /// Of `heads`, those with none of these ways.
  bool without_any(bool heads) const { return heads && ports == 0; }
  void add(PortWays more) { ports = static_cast<PortSet>(ports | more.ports); }
  void forget(bool heads) { ports = heads ? PortSet{0} : ports; }
};

/// The same of heads in lanes, of the ways that their routers have.
template <class Number, std::size_t kWays>
struct LaneWays {
  using Heads = Lanes<Number>;

  std::array<Heads, kWays> way{};

  Heads without_any(const Heads& heads) const {
    Heads without = heads;
    for (const Heads& ways : way) without &= ~ways;
    return without;
  }
  void forget(const Heads& heads) {
    for (Heads& ways : way) ways &= ~heads;
  }
};

/// Of copies that heads have to make, those that they have not made yet: each goes on its way as
/// soon as it can.
template <class Set>
constexpr Set still_wanted(const Set& needs, const Set& made) {
  return static_cast<Set>(needs & ~made);
}
inline PortWays still_wanted(PortWays needs, PortWays made) {
  return {still_wanted(needs.ports, made.ports)};
}
template <class Number, std::size_t kWays>
inline LaneWays<Number, kWays> still_wanted(const LaneWays<Number, kWays>& needs,
                                            const LaneWays<Number, kWays>& made) {
  LaneWays<Number, kWays> wanted;
  for (std::size_t i = 0; i < kWays; ++i) {
    wanted.way[i] = still_wanted(needs.way[i], made.way[i]);
  }
  return wanted;
}

/// Of copies to other rows that heads of `several` copies want to make, those that find the link
/// closed: a closure.
template <class Set>
constexpr Set found_closed(const Set& several, const Set& wants, const Set& open) {
  return static_cast<Set>(several & wants & ~open);
}

/// The copies that the heads of a buffer have made. A head that has made all that it has to leaves
/// at the end of the cycle; one that stays stalls. `Ways` is PortWays or a LaneWays.
template <class Ways>
class HeadCopies {
 public:
  using Heads = typename Ways::Heads;

  /// Of what heads need, what they have not gone yet,
  Ways wants(const Ways& needs) const { return still_wanted(needs, made_); }
  /// and in lanes the same of one way.
  template <class Lane>
  auto wants(std::size_t way, const Lane& needs) const {
    using Made = std::decay_t<decltype(made_.way[way])>;
    return still_wanted<Made>(static_cast<Made>(needs), made_.way[way]);
  }
  template <class Lane>
  void make(std::size_t way, const Lane& copies) {
    made_.way[way] |= copies;
  }
  void make(const Ways& copies) { made_.add(copies); }
  Heads made(std::size_t way) const { return made_.way[way]; }

  /// Of `heads`, which need these ways, those that leave.
  Heads leave(const Heads& heads, const Ways& needs) {
    const Heads leaves = wants(needs).without_any(heads);
    made_.forget(leaves);
    return leaves;
  }

 private:
  Ways made_{};
};

template <class Number, std::size_t kWays>
using LaneCopies = HeadCopies<LaneWays<Number, kWays>>;

/// A color has a base route and up to three alternatives, the positions of its switch.
inline constexpr unsigned kPositions = 4;

/// How the switch of a color moves.
struct SwitchRules {
  std::uint8_t positions = 1;  // in use; it begins at 0
  bool ring = false;           // advancing from the last leads to the first, else it stays there
  bool pop = false;            // a router takes its command out of the wavelet's list

  bool operator==(const SwitchRules& o) const {
    return positions == o.positions && ring == o.ring && pop == o.pop;
  }
};

/// The switch of a color in a router.
struct ColorSwitch {
  SwitchRules rules;
  std::uint8_t position = 0;
  Cycle reopen = 0;  // after a teardown nothing passes before

  bool passes(Cycle now) const { return reopen <= now; }

  /// The command for the switch in a router into which a word with `commands` came at `from`.
  static constexpr SwitchCommand command_for(SwitchCommands commands, Port from) {
    if ((commands & kOwnRouterOnly) != 0 && from != kRamp) return SwitchCommand::none;
    return command_of(commands);
  }
  /// What a word takes with it to the next router.
  SwitchCommands passed_on(SwitchCommands commands) const {
    return rules.pop ? without_first(commands) : commands;
  }

  /// A word with this command has left in cycle `now`; this holds from the next one. After a
  /// teardown nothing passes for `pause` cycles.
  void obey(SwitchCommand command, Cycle now, Cycle pause) {
    switch (command) {
      case SwitchCommand::none:
        return;
      case SwitchCommand::advance:
        if (position + 1 < rules.positions) {
          ++position;
        } else if (rules.ring) {
          position = 0;
        }
        return;
      case SwitchCommand::reset:
        position = 0;
        return;
      case SwitchCommand::teardown:
        position = 0;
        reopen = now + 1 + pause;
        return;
    }
  }
};

}  // namespace lacuna::wse

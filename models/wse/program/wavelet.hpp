// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna::wse {

/// A virtual channel of the fabric, 0 to 23.
enum class Color : std::uint8_t {};

inline constexpr unsigned kColors = 24;

/// What a control wavelet tells the switch of its color in a router.
enum class SwitchCommand : std::uint8_t { none, advance, reset, teardown };

/// Up to seven switch commands, the first in the lowest bits, and whether they are meant for the
/// router of the sending core alone. Without commands a wavelet leaves switches alone.
using SwitchCommands = std::uint16_t;
inline constexpr SwitchCommands kOwnRouterOnly = 0x8000;

constexpr SwitchCommands first_command(SwitchCommand command) {
  return static_cast<SwitchCommands>(command);
}
constexpr SwitchCommand command_of(SwitchCommands commands) {
  return static_cast<SwitchCommand>(commands & 3U);
}

/// The commands that are left after the first.
constexpr SwitchCommands without_first(SwitchCommands commands) {
  return static_cast<SwitchCommands>((commands & kOwnRouterOnly) | (commands & 0x7FFFU) >> 2U);
}

/// One 32-bit packet on a color. The control bit tells commands from data.
struct Wavelet {
  std::uint32_t payload = 0;
  Color color{};
  bool control = false;
  SwitchCommands switches = 0;
  bool zero = false;  // a value that a filter of zeros drops
};

inline bool operator==(const Wavelet& a, const Wavelet& b) {
  return a.payload == b.payload && a.color == b.color && a.control == b.control &&
         a.switches == b.switches && a.zero == b.zero;
}

/// The five ports of a router, clockwise from the north, then the ramp to its core.
enum Port : std::uint8_t { kNorth, kEast, kSouth, kWest, kRamp };

inline constexpr unsigned kPorts = 5;

/// A set of ports, one bit each.
using PortSet = std::uint8_t;

constexpr PortSet bit(unsigned port) { return static_cast<PortSet>(1U << port); }

/// The port of the neighbour at the other end of a link.
constexpr unsigned opposite(unsigned port) { return (port + 2U) % 4U; }

const char* port_name(unsigned port);

}  // namespace lacuna::wse

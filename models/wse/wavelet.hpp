// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lacuna::wse {

/// A virtual channel of the fabric, 0 to 23.
enum class Color : std::uint8_t {};

inline constexpr unsigned kColors = 24;

/// One 32-bit packet on a color. The control bit tells commands from data.
struct Wavelet {
  std::uint32_t payload = 0;
  Color color{};
  bool control = false;
};

inline bool operator==(const Wavelet& a, const Wavelet& b) {
  return a.payload == b.payload && a.color == b.color && a.control == b.control;
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/program/wavelet.hpp"
#include "models/wse/program/wavelet_filter.hpp"

namespace lacuna::wse {

/// Words of `color` that come in at `from` are copied to all ports of `to`, while the switch of
/// the color is at `position`.
struct Route {
  Color color{};
  Port from = kRamp;
  PortSet to = 0;
  std::uint8_t position = 0;
};

/// What one router does; colors with several positions may say how their switch moves.
struct RouterProgram {
  struct Rule {
    Color color{};
    bool ring = false;
    bool pop = false;
  };
  struct Filter {
    Color color{};
    WaveletFilter filter;
  };

  std::vector<Route> routes;
  std::vector<Rule> rules;
  std::vector<Filter> filters;  // between the ramp and the core's queue
};

/// A rectangle of cores and the ways between them. Routers that do the same share a description.
struct Fabric {
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  std::vector<RouterProgram> routers;
  std::vector<std::uint32_t> router_of;  // by core, row-major

  std::size_t size() const { return std::size_t{rows} * columns; }
  const RouterProgram& router(std::size_t core) const { return routers[router_of[core]]; }
  const RouterProgram& router(std::size_t row, std::size_t column) const {
    return router(row * columns + column);
  }

  /// The core next to one through a port of its router, if it is in the rectangle.
  std::optional<std::size_t> neighbour(std::size_t core, unsigned port) const {
    const std::size_t column = core % columns;
    const std::size_t row = core / columns;
    if (port == kEast && column + 1 < columns) return core + 1;
    if (port == kWest && column > 0) return core - 1;
    if (port == kSouth && row + 1 < rows) return core + columns;
    if (port == kNorth && row > 0) return core - columns;
    return std::nullopt;
  }
};

}  // namespace lacuna::wse

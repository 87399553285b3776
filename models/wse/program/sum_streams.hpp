// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The ways of partial sums along a row of cores: colors that share no link
/// are one stream, so that a column has one buffer of each stream for what comes from its
/// neighbour, and one for what comes from its core. Lanes are columns.
struct SumStreams {
  struct Lane {
    bool to_core = false;  // what comes from the neighbour goes to the core, not on
    bool sends = false;
    Color in{};              // of what comes from the neighbour
    Color out{};             // of what comes from the core
    std::uint8_t queue = 0;  // output queue of the core: its number
  };
  struct Stream {
    bool east = false;
    std::vector<Lane> lanes;
  };
  /// The stream of a color.
  using OfColor = std::array<std::uint8_t, kColors>;

  explicit SumStreams(const Program& program);

  std::vector<Stream> streams;  // those to the east come first
  std::size_t eastern = 0;
  OfColor of_color{};  // a color has one, as it has one direction
  const StreamingKernel& kernel;
  Color weights{};
  std::vector<std::uint8_t> queues;  // by column: output queues of its core for sums

 private:
  void place_colors(const Program& program, Port port);
  void place_column(const Program& program, std::uint32_t column);
};

}  // namespace lacuna::wse

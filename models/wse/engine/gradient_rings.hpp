// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/lane_streams.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sum_streams.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// What a lane of a GradientRow counted.
struct GradientLaneCounts {
  std::uint64_t dispatch = 0;
  std::uint64_t weights = 0;  // cycles without an index
  std::uint64_t ring_in = 0;
  std::uint64_t ring_out = 0;
  std::uint64_t buffer = 0;
  std::uint64_t beside = 0;
  std::uint64_t in_use = 0;
  std::uint64_t stall_weights = 0;  // of the router, by the head of its buffer
  std::uint64_t closures = 0;
  std::uint64_t stall_out = 0;                 // dY from this core
  std::vector<std::uint64_t> stall_over = {};  // by stream, all dY from the neighbour
  std::uint64_t stall_north = 0;               // of the chain
  std::uint64_t stall_south = 0;
  Cycle end = 0;
  Cycle streamed = 0;  // of kept dot products: the first cycle in which the chain could issue
};

/// What all rows of a weight gradient share: the program, and its rings. Lanes are columns.
struct GradientLanes {
  GradientLanes(const HardwareParams& hardware, const Program& what);

  /// The column that owns dY of a step of this one.
  std::size_t owner(std::size_t step, std::size_t lane) const {
    return program.kernel.keeper(step, static_cast<std::uint32_t>(lane));
  }

  HardwareParams params;
  const Program& program;
  std::vector<std::uint32_t> after;  // by column, on its ring
  SumStreams streams;                // of dY
};

/// The rings, between the output queues of cores and the routers from which cores take dY.
template <class Number>
class GradientRings {
 public:
  using Vector = Lanes<Number>;

  explicit GradientRings(const GradientLanes& shared);

  void begin_cycle(std::size_t i);
  /// Lanes with a word for the core, and its color.
  Vector at_core(std::size_t i) const;
  const Vector& color(std::size_t i) const { return colors_[i]; }
  /// Lanes that take it.
  void take(std::size_t i, const Vector& lanes);
  /// Lanes whose word can go up the ramp, and those that send one.
  Vector room(std::size_t i) const;
  void send(std::size_t i, const Vector& lanes);
  /// Once all have done so, words move.
  void end_cycle();
  /// Moves the stalls out of the lanes.
  void flush(std::vector<GradientLaneCounts>& counts);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Part : LaneStream<Number> {
    Vector sends;

    void place(std::size_t lane, const SumStreams::Lane& what) {
      LaneStream<Number>::place(lane, what);
      sends[lane] = static_cast<Number>(what.sends ? -1 : 0);
    }
  };
  template <class Visit>
  void for_each_part(std::size_t i, const Visit& visit) {
    for (std::size_t s = 0; s < streams_.count(); ++s) visit(streams_.of(i)[s]);
  }
  template <class Visit>
  void for_each_part(std::size_t i, const Visit& visit) const {
    for (std::size_t s = 0; s < streams_.count(); ++s) visit(streams_.of(i)[s]);
  }

  LaneShapes<Number> shapes_;
  LaneStreams<Number, Part> streams_;
  std::vector<Vector> colors_;  // of dY that comes to the cores, by block
};

}  // namespace lacuna::wse

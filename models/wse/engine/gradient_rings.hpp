// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/wse/fabric/arbiter.hpp"
#include "models/wse/fabric/lane_router.hpp"
#include "models/wse/fabric/link_rule.hpp"
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
  std::uint64_t stall_ring = 0;  // dY for this core
  std::uint64_t stall_pass = 0;  // of the router in between on the way here
  std::uint64_t stall_out = 0;   // dY from this core
  /// Of rings that pass through each other, in place of the two above that: by stream, all dY from
  /// the neighbour.
  std::vector<std::uint64_t> stall_over = {};
  std::uint64_t stall_north = 0;  // of the chain
  std::uint64_t stall_south = 0;
  Cycle end = 0;
  Cycle streamed = 0;  // of kept dot products: the first cycle in which the chain could issue
};

/// What all rows of a weight gradient share: the program, and columns as lanes: in the order of the
/// ring, of one group after the other, or, of interleaved groups, as they lie.
struct GradientLanes {
  GradientLanes(const HardwareParams& hardware, const Program& what);

  /// The lane that owns dY of a step of this one.
  std::size_t owner(std::size_t step, std::size_t lane) const {
    return final_lane[step * program.kernel.groups.count + group_of[lane]];
  }

  HardwareParams params;
  const Program& program;
  std::vector<std::uint32_t> column_of;      // by lane
  std::vector<std::uint32_t> lane_of;        // by column
  std::vector<std::uint32_t> group_of;       // by lane
  std::vector<std::uint32_t> before, after;  // by lane, on its ring
  std::vector<std::uint32_t> final_lane;     // by step and group
  std::optional<SumStreams> streams;         // of rings that pass through each other
};

/// The rings of groups side by side, between the output queues of cores and the routers from which
/// cores take dY: nothing competes for their links.
template <class Number>
class NearRings {
 public:
  using Vector = Lanes<Number>;

  explicit NearRings(const GradientLanes& shared);

  void begin_cycle(std::size_t i) { blocks_[i].hops.begin_cycle(); }
  /// Lanes with a word for the core, and its color.
  Vector at_core(std::size_t i) const { return blocks_[i].hops.here.has(); }
  const Vector& color(std::size_t i) const { return blocks_[i].color; }
  /// Lanes that take it.
  void take(std::size_t i, const Vector& lanes) { blocks_[i].taken = lanes; }
  /// Lanes whose word can go up the ramp, and those that send one.
  Vector room(std::size_t i) const { return border_.room_after(i * kWidth, 1); }
  void send(std::size_t i, const Vector& lanes) { border_.send(i * kWidth, lanes); }
  /// Once all have done so, words move.
  void end_cycle();
  /// Moves the stalls out of the lanes.
  void flush(std::vector<GradientLaneCounts>& counts);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    LaneHops<Number> hops;  // of dY that comes here
    Vector color, taken;
  };

  const GradientLanes* shared_;
  std::size_t width_;  // lanes of a group
  LaneShapes<Number> shapes_;
  LinkRule link_rule_;
  std::vector<Block> blocks_;
  LaneBorder<Number> border_;  // what goes up to the next lane, and the room there
};

/// The same of interleaved groups, whose rings share links: words of all of them compete at every
/// router that they pass. Lanes are columns.
template <class Number>
class PassingRings {
 public:
  using Vector = Lanes<Number>;

  explicit PassingRings(const GradientLanes& shared);

  void begin_cycle(std::size_t i);
  Vector at_core(std::size_t i) const;
  const Vector& color(std::size_t i) const { return blocks_[i].color; }
  void take(std::size_t i, const Vector& lanes);
  Vector room(std::size_t i) const;
  void send(std::size_t i, const Vector& lanes);
  void end_cycle();
  void flush(std::vector<GradientLaneCounts>& counts);

 private:
  static constexpr unsigned kWidth = LanesOf<Number>::kCount;

  struct Block {
    LanePort<Number> east, west;
    LaneLink<Number> east_link, west_link;
    Vector color;
  };
  /// One stream: a ring one way.
  struct Part : LaneStream<Number> {
    Vector sends;
  };

  Part* parts_of(std::size_t i) { return parts_.data() + i * count_; }
  const Part* parts_of(std::size_t i) const { return parts_.data() + i * count_; }
  void pass(std::size_t i, bool east, const Vector& open);
  void arrive(std::size_t i);

  const GradientLanes* shared_;
  std::size_t count_;    // streams
  std::size_t eastern_;  // of these, the first
  ArbiterRule rule_;
  LaneShapes<Number> shapes_;
  LinkRule link_rule_;
  std::vector<Block> blocks_;
  std::vector<Part> parts_;                  // by block and stream
  std::vector<LaneBorder<Number>> borders_;  // by stream
};

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_rings.hpp"

#include <algorithm>
#include <numeric>

namespace lacuna::wse {

GradientLanes::GradientLanes(const HardwareParams& hardware, const Program& what)
    : params(hardware),
      program(what),
      column_of(what.kernel.ring),
      lane_of(column_of.size()),
      group_of(column_of.size()),
      before(column_of.size()),
      after(column_of.size()) {
  const StreamingKernel& kernel = program.kernel;
  const std::size_t width = column_of.size() / kernel.groups.count;
  if (kernel.groups.interleaved) {
    std::iota(column_of.begin(), column_of.end(), 0U);
    streams.emplace(program);
  }
  for (std::uint32_t lane = 0; lane < lane_of.size(); ++lane) lane_of[column_of[lane]] = lane;
  for (std::size_t p = 0; p < column_of.size(); ++p) {
    const std::size_t next = (p + 1) % width == 0 ? p + 1 - width : p + 1;
    const std::uint32_t from = lane_of[kernel.ring[p]];
    const std::uint32_t to = lane_of[kernel.ring[next]];
    after[from] = to;
    before[to] = from;
    group_of[from] = static_cast<std::uint32_t>(p / width);
  }
  for (const std::uint32_t column : kernel.final_column) final_lane.push_back(lane_of[column]);
}

template <class Number>
NearRings<Number>::NearRings(const GradientLanes& shared)
    : shared_(&shared),
      width_(shared.column_of.size() / shared.program.kernel.groups.count),
      shapes_(shared.params.router, shared.params.queue),
      link_rule_(shared.params.router),
      blocks_((shared.column_of.size() + kWidth - 1) / kWidth, Block{}),
      border_(blocks_.size() * kWidth, 1) {
  for (std::size_t lane = 0; lane < shared.column_of.size(); ++lane) {
    Block& b = blocks_[lane / kWidth];
    const auto i = static_cast<unsigned>(lane % kWidth);
    const std::uint32_t to = shared.column_of[lane];
    const std::uint32_t from = shared.column_of[shared.before[lane]];
    b.hops.one_hop[i] = static_cast<Number>(std::max(to, from) - std::min(to, from) == 1 ? -1 : 0);
    b.color[i] = static_cast<Number>(shared.program.kernel.ring_in[to]);
  }
}

template <class Number>
void NearRings<Number>::end_cycle() {
  const std::size_t columns = shared_->column_of.size();
  for (std::size_t first = 0; first < columns; first += width_) {
    border_.close_sent(first, width_, 1);
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Block& b = blocks_[i];
    b.hops.move(link_rule_, shapes_.up, shapes_.link, border_.sent_before(i * kWidth, 1), b.taken);
    border_.show(i * kWidth, b.hops.up.room(shapes_.up));
  }
  // behind a group's last lane is the next group's first, which that group reads before
  for (std::size_t end = columns; end != 0; end -= width_) {
    border_.close_room(end - width_, width_, 1);
  }
}

template <class Number>
void NearRings<Number>::flush(std::vector<GradientLaneCounts>& counts) {
  for (std::size_t lane = 0; lane < counts.size(); ++lane) {
    const LaneHops<Number>& hops = blocks_[lane / kWidth].hops;
    const std::size_t i = lane % kWidth;
    counts[lane].stall_ring += static_cast<std::uint64_t>(hops.here.stalled[i]);
    counts[lane].stall_pass += static_cast<std::uint64_t>(hops.over.stalled[i]);
    counts[shared_->before[lane]].stall_out += static_cast<std::uint64_t>(hops.up.stalled[i]);
  }
  for (Block& b : blocks_) b.hops.forget_stalls();
}

template <class Number>
PassingRings<Number>::PassingRings(const GradientLanes& shared)
    : shared_(&shared),
      count_(shared.streams->streams.size()),
      eastern_(shared.streams->eastern),
      rule_(shared.params.router),
      shapes_(shared.params.router, shared.params.queue),
      link_rule_(shared.params.router),
      blocks_((shared.column_of.size() + kWidth - 1) / kWidth, Block{}),
      parts_(blocks_.size() * count_, Part{}),
      borders_(count_, LaneBorder<Number>(blocks_.size() * kWidth, 1)) {
  for (std::size_t lane = 0; lane < shared.column_of.size(); ++lane) {
    const std::size_t i = lane % kWidth;
    const Color color = shared.program.kernel.ring_in[lane];
    blocks_[lane / kWidth].color[i] = static_cast<Number>(color);
    for (std::size_t s = 0; s < count_; ++s) {
      const SumStreams::Lane& from = shared.streams->streams[s].lanes[lane];
      Part& part = parts_of(lane / kWidth)[s];
      part.to_core[i] = static_cast<Number>(from.to_core ? -1 : 0);
      part.sends[i] = static_cast<Number>(from.sends ? -1 : 0);
      part.in_color[i] = static_cast<Number>(from.in);
      part.out_color[i] = static_cast<Number>(from.out);
    }
  }
}

template <class Number>
void PassingRings<Number>::begin_cycle(std::size_t i) {
  Part* const parts = parts_of(i);
  for (std::size_t s = 0; s < count_; ++s) begin_cycles(parts[s].in, parts[s].up);
}

template <class Number>
Lanes<Number> PassingRings<Number>::at_core(std::size_t i) const {
  const Part* const parts = parts_of(i);
  Vector there{};
  for (std::size_t s = 0; s < count_; ++s) there |= parts[s].in.has() & parts[s].to_core;
  return there;
}

template <class Number>
void PassingRings<Number>::take(std::size_t i, const Vector& lanes) {
  Part* const parts = parts_of(i);
  for (std::size_t s = 0; s < count_; ++s) parts[s].taken = lanes & parts[s].to_core;
}

template <class Number>
Lanes<Number> PassingRings<Number>::room(std::size_t i) const {
  const Part* const parts = parts_of(i);
  Vector room{};
  for (std::size_t s = 0; s < count_; ++s) room |= parts[s].sends & parts[s].up.room(shapes_.up);
  return room;
}

template <class Number>
void PassingRings<Number>::send(std::size_t i, const Vector& lanes) {
  Part* const parts = parts_of(i);
  for (std::size_t s = 0; s < count_; ++s) parts[s].up.push(lanes & parts[s].sends, shapes_.up);
}

/// All columns decide by what there was before the cycle; then the words arrive.
template <class Number>
void PassingRings<Number>::end_cycle() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    pass(i, true, blocks_[i].east_link.open(link_rule_));
    pass(i, false, blocks_[i].west_link.open(link_rule_));
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) arrive(i);
}

/// The port to a neighbour, for which the streams that run there compete.
template <class Number>
void PassingRings<Number>::pass(std::size_t i, bool east, const Vector& open) {
  Part* const parts = parts_of(i);
  LanePort<Number>& port = east ? blocks_[i].east : blocks_[i].west;
  const std::size_t begin = east ? 0 : eastern_;
  const std::size_t end = east ? eastern_ : count_;
  const std::size_t first = i * kWidth;
  LaneContest<Number> asks;
  for (std::size_t s = begin; s < end; ++s) {
    Part& p = parts[s];
    const Vector room =
        open & (east ? borders_[s].room_after(first, 1) : borders_[s].room_before(first, 1));
    p.ask(port, rule_, room, asks);
  }
  (east ? blocks_[i].east_link : blocks_[i].west_link).sent(link_rule_, asks.granted());
  for (std::size_t s = begin; s < end; ++s) {
    parts[s].leave(asks, rule_, first, port, borders_[s]);
  }
}

/// Words from the neighbours, a lane away.
template <class Number>
void PassingRings<Number>::arrive(std::size_t i) {
  Part* const parts = parts_of(i);
  const std::size_t first = i * kWidth;
  for (std::size_t s = 0; s < count_; ++s) {
    LaneBuffer<Number>& in = parts[s].in;
    in.push(s < eastern_ ? borders_[s].sent_before(first, 1) : borders_[s].sent_after(first, 1),
            shapes_.link);
    borders_[s].show(first, in.room(shapes_.link));
  }
}

template <class Number>
void PassingRings<Number>::flush(std::vector<GradientLaneCounts>& counts) {
  for (std::size_t lane = 0; lane < counts.size(); ++lane) {
    const std::size_t i = lane % kWidth;
    std::vector<std::uint64_t>& over = counts[lane].stall_over;
    over.resize(count_);
    for (std::size_t s = 0; s < count_; ++s) {
      const Part& part = parts_of(lane / kWidth)[s];
      over[s] += static_cast<std::uint64_t>(part.in.stalled[i]);
      counts[lane].stall_out += static_cast<std::uint64_t>(part.up.stalled[i]);
    }
  }
  for (Part& part : parts_) part.in.stalled = part.up.stalled = Vector{};
}

template class NearRings<std::int8_t>;
template class NearRings<std::int16_t>;
template class PassingRings<std::int8_t>;
template class PassingRings<std::int16_t>;

}  // namespace lacuna::wse

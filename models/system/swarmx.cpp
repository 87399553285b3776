// SPDX-License-Identifier: Apache-2.0
#include "models/system/swarmx.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna::system {
namespace {

constexpr std::size_t kDown = 0;
constexpr std::size_t kUp = 1;

}  // namespace

SwarmLink::SwarmLink(const sc_core::sc_module_name& name, ClockDomain& clock,
                     std::uint64_t bytes_per_us, bool half_duplex)
    : sc_module(name),
      clock_(clock),
      half_duplex_(half_duplex),
      lanes_{Lane{SwarmPace(bytes_per_us), {}, false, 0},
             Lane{SwarmPace(bytes_per_us), {}, false, 0}} {}

bool SwarmLink::take(std::size_t which, Cycle now) {
  Lane& lane = lanes_.at(which);
  if (lane.carries || (half_duplex_ && carries())) return false;
  PopIf<SwarmChunk>& in = which == kDown ? *down_in.operator->() : *up_in.operator->();
  const PushIf<SwarmChunk>& out = which == kDown ? *down_out.operator->() : *up_out.operator->();
  if (!in.can_pop(now) || !out.can_push(now)) return false;
  lane.chunk = in.pop(now);
  lane.carries = true;
  lane.last = lane.pace.last(now, lane.chunk.bytes);
  turn_ = 1 - which;
  clock_.moved(lane.last);
  return true;
}

Cycle SwarmLink::step(Cycle now) {
  const std::size_t first = turn_;
  take(first, now);
  take(1 - first, now);
  if (!carries()) return kNever;  // a channel wakes it
  ++busy_ns_;
  Cycle next = kNever;
  for (std::size_t which : {kDown, kUp}) {
    Lane& lane = lanes_.at(which);
    if (!lane.carries) continue;
    if (now < lane.last) {
      next = std::min(next, lane.last);
      continue;
    }
    (which == kDown ? down_out : up_out)->push(now, lane.chunk);
    bytes_.at(which) += lane.chunk.bytes;
    lane.carries = false;
    next = now + 1;
  }
  return next;
}

void SwarmLink::skip(Cycle from, Cycle to) {
  if (carries()) busy_ns_ += to - from;
}

std::string SwarmLink::blocked() const {
  return carries() ? fmt::format("carries a chunk of pass {}",
                                 lanes_[lanes_[0].carries ? kDown : kUp].chunk.pass)
                   : "";
}

bool SwarmNode::copy(Cycle now) {
  if (!down_in->can_pop(now)) return false;
  for (int i = 0; i < down_out.size(); ++i) {
    if (!down_out[i]->can_push(now)) return false;
  }
  const SwarmChunk chunk = down_in->pop(now);
  for (int i = 0; i < down_out.size(); ++i) down_out[i]->push(now, chunk);
  return true;
}

bool SwarmNode::add(Cycle now) {
  if (!up_out->can_push(now)) return false;
  for (int i = 0; i < up_in.size(); ++i) {
    if (!up_in[i]->can_pop(now)) return false;
  }
  const SwarmChunk sum = up_in[0]->pop(now);
  for (int i = 1; i < up_in.size(); ++i) {
    const SwarmChunk part = up_in[i]->pop(now);
    if (part.pass != sum.pass || part.index != sum.index || part.bytes != sum.bytes) {
      throw InternalError("SwarmX adds up gradients of different weights");
    }
  }
  added_bytes_ += std::uint64_t{sum.bytes} * static_cast<std::uint64_t>(up_in.size());
  up_out->push(now, sum);
  return true;
}

Cycle SwarmNode::step(Cycle now) {
  while (copy(now)) {
  }
  while (add(now)) {
  }
  return kNever;  // channels wake it
}

}  // namespace lacuna::system

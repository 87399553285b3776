// SPDX-License-Identifier: Apache-2.0
#include "models/system/chip_node.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/system/event_kinds.hpp"

namespace lacuna::system {

ChipNode::ChipNode(const sc_core::sc_module_name& name, ClockDomain& clock, const ChipSteps& steps,
                   const Wiring& wiring, std::uint32_t unit, std::vector<std::uint64_t>& arrived,
                   EventLog& log)
    : sc_module(name),
      clock_(clock),
      steps_(steps),
      wiring_(wiring),
      unit_(unit),
      log_(log),
      arrived_(arrived) {
  const std::vector<Step>& main = steps.lanes[kMain];
  const bool works = std::any_of(main.begin(), main.end(),
                                 [](const Step& step) { return step.kind == Step::Kind::work; });
  bubble_ns_ = works ? steps.bubble_ns : kNever;
}

void ChipNode::receive_chunks(Cycle now) {
  for (int i = 0; i < in.size(); ++i) {
    while (in[i]->can_pop(now)) ++arrived_[in[i]->pop(now).transfer];
  }
}

void ChipNode::send(std::uint32_t transfer, Cycle now) {
  const auto output = static_cast<int>(wiring_.first_output(transfer));
  for (const Chunk& chunk : wiring_.chunks(transfer)) out[output]->push(now, chunk);
}

/// True if the lane is through with `step` before cycle `now`, and may begin the next one in it.
bool ChipNode::done(const Step& step, Lane& lane, Cycle now) {
  switch (step.kind) {
    case Step::Kind::work:
      if (!lane.works) {
        lane.works = true;
        lane.until = now + step.ns;
        clock_.moved(lane.until);
      }
      if (now < lane.until) return false;
      lane.works = false;
      return true;
    case Step::Kind::send:
      send(step.transfer, now);
      return true;
    case Step::Kind::receive:
      return arrived_[step.transfer] == wiring_.chunk_count(step.transfer);
    case Step::Kind::barrier:
      return pass_barrier(step.transfer, now);
    case Step::Kind::await:
      return lanes_[kBackground].next >= step.transfer;
  }
  return false;
}

bool ChipNode::pass_barrier(std::uint32_t barrier, Cycle now) {
  if (!waits_) {
    waits_ = true;
    arrive->push(now, {unit_, barrier});
    return false;
  }
  if (!release->can_pop(now)) return false;
  release->pop(now);
  waits_ = false;
  return true;
}

bool ChipNode::advance(std::size_t lane, Cycle now) {
  const std::vector<Step>& steps = steps_.lanes[lane];
  Lane& at = lanes_[lane];
  bool moved = false;
  while (at.next < steps.size() && done(steps[at.next], at, now)) {
    ++at.next;
    moved = true;
  }
  return moved;
}

bool ChipNode::finished() const {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (lanes_[lane].next < steps_.lanes[lane].size()) return false;
  }
  return true;
}

void ChipNode::begin(Cycle now, Use use) {
  if (open_ && use_ == use) return;
  end(now);
  open_ = true;
  use_ = use;
  log_.record(now, unit_, first_of(use));
}

void ChipNode::end(Cycle now) {
  if (open_) log_.record(now - 1, unit_, last_of(use_));
  open_ = false;
}

/// What of a wait of `ns` for other chips is bubble; it is that much less from now on.
Cycle ChipNode::take_bubble(Cycle ns) {
  const Cycle bubble = std::min(ns, bubble_ns_);
  if (bubble_ns_ != kNever) bubble_ns_ -= bubble;
  time(Use::bubble) += bubble;
  time(Use::imbalance) += ns - bubble;
  return bubble;
}

/// The wait is booked now that its cause is known, this cycle with it.
void ChipNode::leave_barrier(Cycle now) {
  const Cycle last = release->pop(now).last_arrival;
  const Cycle change = arrival_ + take_bubble(last - arrival_);
  time(Use::sync) += now + 1 - last;
  if (change > arrival_) begin(arrival_, Use::bubble);
  if (last > change) begin(change, Use::imbalance);
  begin(last, Use::sync);
  end(now + 1);
}

Cycle ChipNode::next_end() const {
  Cycle next = kNever;
  for (const Lane& lane : lanes_) {
    if (lane.works) next = std::min(next, lane.until);
  }
  return next;
}

Cycle ChipNode::step(Cycle now) {
  receive_chunks(now);
  if (arrival_ != kNever) {
    if (release->can_pop(now)) leave_barrier(now);
    return kNever;
  }
  bool background = true;
  while (background) {
    background = advance(kBackground, now);
    if (!advance(kMain, now)) break;
  }
  if (finished()) {
    end(now);
    arrival_ = now;
    arrive->push(now, {unit_, kEndBarrier});
    return kNever;
  }
  const std::vector<Step>& main = steps_.lanes[kMain];
  // when the tiles are through, the rest of the background is waited for
  const bool through = lanes_[kMain].next == main.size();
  const Use use = through ? Use::streaming : main[lanes_[kMain].next].use;
  if (use != Use::bubble) {
    begin(now, use);
    ++time(use_);
    return next_end();
  }
  begin(now, take_bubble(1) == 1 ? Use::bubble : Use::imbalance);
  return next_end();
}

void ChipNode::skip(Cycle from, Cycle to) {
  if (arrival_ != kNever) return;
  if (use_ != Use::bubble) {
    time(use_) += to - from;
    return;
  }
  const Cycle change = from + take_bubble(to - from);
  if (change < to) begin(change, Use::imbalance);
}

std::string ChipNode::blocked() const {
  if (arrival_ != kNever) return "waits at the barrier";
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::vector<Step>& steps = steps_.lanes[lane];
    if (lanes_[lane].next < steps.size()) {
      const Step& step = steps[lanes_[lane].next];
      return fmt::format("step {} of {} of lane {}: {} {}", lanes_[lane].next, steps.size(), lane,
                         step.kind == Step::Kind::receive ? "waits for transfer" : "does",
                         step.transfer);
    }
  }
  return "";
}

}  // namespace lacuna::system

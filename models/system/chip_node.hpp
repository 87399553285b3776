// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "models/system/carrier.hpp"
#include "models/system/program.hpp"
#include "models/system/use_book.hpp"
#include "models/system/wiring.hpp"
#include "sim/base/event_log.hpp"
#include "sim/base/ranges.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// What a chip tells the conductor: that it has come to a barrier of the segment, or to its end.
struct Arrival {
  std::uint32_t chip = 0;
  std::uint32_t barrier = 0;
};
inline constexpr std::uint32_t kEndBarrier = 0xffffffff;

/// What the conductor tells a chip: to go on, and when the last of the chips had come.
struct Release {
  Cycle last_arrival = 0;
};

/// A chip of a system: does the steps of its lanes, whose times come from a model of the chip, and
/// then waits at the barrier that ends a segment. The tiles' lane keeps the accounts.
class ChipNode : public sc_core::sc_module, public Clocked {
 public:
  /// `arrived` counts the chunks of each transfer that are there; a chip touches those of its own.
  ChipNode(const sc_core::sc_module_name& name, ClockDomain& clock, const ChipSteps& steps,
           const Wiring& wiring, std::uint32_t unit, std::vector<std::uint64_t>& arrived,
           EventLog& log)
      : sc_module(name),
        clock_(clock),
        steps_(steps),
        wiring_(wiring),
        unit_(unit),
        book_(unit, log),
        arrived_(arrived) {
    const bool works =
        any_of(steps.lanes[kMain], [](const Step& step) { return step.kind == Step::Kind::work; });
    bubble_ns_ = works ? steps.bubble_ns : kNever;
  }

  ChunkIn in{"in"};
  ChunkOut out{"out"};
  sc_core::sc_port<PushIf<Arrival>> arrive{"arrive"};
  sc_core::sc_port<PopIf<Release>> release{"release"};

  /// Where its nanoseconds went.
  const TimeStack& time() const { return book_.time(); }

  Cycle step(Cycle now) override {
    for (int i = 0; i < in.size(); ++i) {
      while (in[i]->can_pop(now)) ++arrived_[in[i]->pop(now).transfer];
    }
    if (arrival_ != kNever) {
      if (release->can_pop(now)) leave_barrier(now);
      return kNever;
    }
    bool background = true;
    while (background) {
      background = advance(kBackground, now);
      if (!advance(kMain, now)) break;
    }
    const std::vector<Step>& main = steps_.lanes[kMain];
    // when the tiles are through, the rest of the background is waited for
    const bool through = lanes_[kMain].next == main.size();
    if (through && lanes_[kBackground].next == steps_.lanes[kBackground].size()) {
      book_.end(now);
      arrival_ = now;
      arrive->push(now, {unit_, kEndBarrier});
      return kNever;
    }
    const Use use = through ? Use::streaming : main[lanes_[kMain].next].use;
    if (use == Use::bubble) {
      book_.begin(now, take_bubble(1) == 1 ? Use::bubble : Use::imbalance);
    } else {
      book_.begin(now, use);
      book_.book(1);
    }
    return next_end();
  }

  void skip(Cycle from, Cycle to) override {
    if (arrival_ != kNever) return;
    if (book_.use() != Use::bubble) {
      book_.book(to - from);
      return;
    }
    const Cycle change = from + take_bubble(to - from);
    if (change < to) book_.begin(change, Use::imbalance);
  }

  std::string blocked() const override {
    if (arrival_ != kNever) return "waits at the barrier";
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::vector<Step>& steps = steps_.lanes[lane];
      const std::size_t next = lanes_[lane].next;
      if (next == steps.size()) continue;
      const bool receives = steps[next].kind == Step::Kind::receive;
      return fmt::format("step {} of {} of lane {}: {} {}", next, steps.size(), lane,
                         receives ? "waits for transfer" : "does", steps[next].transfer);
    }
    return "";
  }

 private:
  struct Lane {
    std::size_t next = 0;  // step
    bool works = false;
    Cycle until = 0;  // the first cycle after the work under way
  };

  /// True if the lane is through with `step` before cycle `now`, and may begin the next one in it.
  bool done(const Step& step, Lane& lane, Cycle now) {
    switch (step.kind) {
      case Step::Kind::work:
        if (!lane.works) {
          lane.works = true;
          lane.until = now + step.ns;
          clock_.moved(lane.until);
        }
        lane.works = now < lane.until;
        return !lane.works;
      case Step::Kind::send: {
        const auto output = static_cast<int>(wiring_.first_output(step.transfer));
        for (const Chunk& chunk : wiring_.chunks(step.transfer)) out[output]->push(now, chunk);
        return true;
      }
      case Step::Kind::receive:
        return arrived_[step.transfer] == wiring_.chunk_count(step.transfer);
      case Step::Kind::barrier:
        return pass_barrier(step.transfer, now);
      case Step::Kind::await:
        return lanes_[kBackground].next >= step.transfer;
    }
    return false;
  }

  bool pass_barrier(std::uint32_t barrier, Cycle now) {
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

  bool advance(std::size_t lane, Cycle now) {
    const std::vector<Step>& steps = steps_.lanes[lane];
    Lane& at = lanes_[lane];
    const std::size_t before = at.next;
    while (at.next < steps.size() && done(steps[at.next], at, now)) ++at.next;
    return at.next != before;
  }

  /// What of a wait of `ns` for other chips is bubble; it is that much less from now on.
  Cycle take_bubble(Cycle ns) {
    const Cycle bubble = std::min(ns, bubble_ns_);
    if (bubble_ns_ != kNever) bubble_ns_ -= bubble;
    book_.book(Use::bubble, bubble);
    book_.book(Use::imbalance, ns - bubble);
    return bubble;
  }

  /// The wait is booked now that its cause is known, this cycle with it.
  void leave_barrier(Cycle now) {
    const Cycle last = release->pop(now).last_arrival;
    const Cycle change = arrival_ + take_bubble(last - arrival_);
    book_.book(Use::sync, now + 1 - last);
    if (change > arrival_) book_.begin(arrival_, Use::bubble);
    if (last > change) book_.begin(change, Use::imbalance);
    book_.begin(last, Use::sync);
    book_.end(now + 1);
  }

  Cycle next_end() const {
    Cycle next = kNever;
    for (const Lane& lane : lanes_) {
      if (lane.works) next = std::min(next, lane.until);
    }
    return next;
  }

  ClockDomain& clock_;
  const ChipSteps& steps_;
  const Wiring& wiring_;
  std::uint32_t unit_;
  UseBook book_;
  std::array<Lane, kLanes> lanes_;
  std::vector<std::uint64_t>& arrived_;
  Cycle bubble_ns_ = 0;     // that waits for other chips still are of the bubble
  bool waits_ = false;      // at a barrier within the segment
  Cycle arrival_ = kNever;  // at the barrier that ends it
};

}  // namespace lacuna::system

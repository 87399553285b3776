// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/pe/issue.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::wse {

/// Cores that are stepped one by one by a control of one lane: the ramp, sleep and the stack of
/// cycles, whatever the control. Context 0 is the main thread.
class LaneCores : public CoreArray {
 public:
  std::size_t finished() const override { return finished_; }

 protected:
  using Number = std::int64_t;
  using Lane = Lanes<Number>;

  struct Unit {
    CorePorts ports;
    Cycle accounted = 0;
    std::size_t next_out = 0;  // output queue that comes first
    LinkMeter ramp;
    bool acted = false;  // in this cycle
    CoreCycle waiting_for = kWaitWeights;
    Cycle run_begin = 0;
    Cycle run_length = 0;
    unsigned run_of = kNobody;
    CoreCounters counters;
  };

  LaneCores(const HardwareParams& params, LinkArray& links, EventLog& log)
      : params_(params.core), link_rule_(params.router), links_(links), log_(log) {}

  static Lane flag(bool value) { return Lane{value ? -1 : 0}; }
  static std::uint64_t number(const Lane& lane) { return static_cast<std::uint64_t>(lane[0]); }

  /// A word of the output queues goes up the ramp. Returns whether one did.
  bool send_output(Unit& core, Cycle now);

  /// A cycle of the core's stack: `context` issued, or the core waited `why`, with so many buffers.
  void book(Unit& core, unsigned context, CoreCycle why, const Lane& in_use);

  /// Takes the first word of an input queue, of a color.
  Wavelet take(Unit& core, LinkId queue, std::uint64_t color);

  /// The color of the first word of a queue.
  std::uint64_t color_of(LinkId queue) const {
    return static_cast<std::uint64_t>(links_.front(queue).color);
  }

  /// What a core waits for, beside the contexts of its slot; kNobody if it has done all.
  static unsigned waiting(CoreCycle why) { return why == kDone ? kNobody : kNobody + 1 + why; }

  /// Keeps the record of beats issued one after the other by the same context, and of cycles in
  /// which a core waited for the same.
  void extend_run(Unit& core, unsigned what, Cycle at, Cycle length);

  /// The cycles up to `now` in which the core slept; returns how many.
  template <class State>
  Cycle sleep(Unit& core, State& state, const Lane& in_use, Cycle now) {
    if (core.accounted >= now) return 0;
    const Cycle slept = now - core.accounted;
    extend_run(core, waiting(core.waiting_for), core.accounted, slept);
    core.accounted = now;
    core.counters.cycles[core.waiting_for] += slept;
    core.counters.buffers_in_use += number(in_use) * slept;
    for (Lane* const left : {&state.task.left, &state.hold}) {
      (*left)[0] -= std::min((*left)[0], static_cast<Number>(slept));
    }
    return slept;
  }

  /// The next cycle in which something here is over or begins, if nothing arrives. The slot was
  /// taken for `busy` cycles from this one on, the last `extra` of them by stalls of another kind.
  template <class State>
  Cycle next_step(const Unit& core, const State& state, Cycle busy, Cycle extra, Cycle now) const {
    Cycle next = kNever;
    const auto due = [&](Cycle at) {
      if (at > now) next = std::min(next, at);
    };
    if (state.task.full[0] != 0) due(now + number(state.task.left));
    if (busy != 0) due(now + busy);
    if (extra != 0 && busy > extra) due(now + busy - extra);
    due(core.ramp.opens());
    due(params_.init_cycles);
    return next;
  }

  /// One control for all cores with so many tokens, made by `make` when it is first asked for.
  template <class Control, class Make>
  static const Control& control_of(std::deque<std::pair<std::uint32_t, Control>>& controls,
                                   std::uint32_t tokens, const Make& make) {
    const auto known = std::find_if(controls.begin(), controls.end(),
                                    [&](const auto& control) { return control.first == tokens; });
    if (known != controls.end()) return known->second;
    controls.emplace_back(tokens, make());
    return controls.back().second;
  }

  const CoreParams params_;
  const LinkRule link_rule_;
  LinkArray& links_;
  EventLog& log_;
  Cycle now_ = 0;  // the cycle being performed
  std::size_t finished_ = 0;
};

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/ramp.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/pe/issue.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::wse {

/// Beats of a context, or cycles of waiting, one after the other.
struct CoreRun {
  Cycle begin = 0;
  Cycle length = 0;
  unsigned of = kNobody;
};

/// What is common to cores of any control.
struct CoreUnit {
  CorePorts ports;
  LinkId weights = kNoLink;  // the queue of the stream
  Cycle accounted = 0;
  std::size_t next_out = 0;  // output queue that comes first
  LinkMeter ramp;
  bool acted = false;  // in this cycle
  Wavelet task;        // in the task register
  CoreCycle waiting_for = kWaitWeights;
  std::array<CoreRun, IssueRule::kSlots> runs;
  CoreCounters counters;
};

/// Cores that are stepped one by one by a control of one lane: the ramp, sleep and the stack of
/// cycles, whatever the control. Context 0 is the main thread.
class LaneCores : public CoreArray {
 public:
  std::size_t finished() const override { return finished_; }

  virtual const CoreCounters& counters(std::size_t core) const = 0;

  /// The results of a core, if values are carried.
  virtual std::vector<float> result(std::size_t /*core*/) const { return {}; }

  /// The words of results that a core took from other groups of columns, if values are carried.
  virtual std::vector<std::uint32_t> taken(std::size_t /*core*/) const { return {}; }

 protected:
  using Who = std::array<unsigned, IssueRule::kSlots>;  // the context that issued, by slot
  using Number = std::int64_t;
  using Lane = Lanes<Number>;

  LaneCores(const HardwareParams& params, LinkArray& links, EventLog& log)
      : params_(params.core),
        issue_(params.core),
        link_rule_(params.router),
        links_(links),
        log_(log) {}

  static Lane flag(bool value) { return Lane{value ? -1 : 0}; }
  static std::uint64_t number(const Lane& lane) { return static_cast<std::uint64_t>(lane[0]); }

  /// Whether Dispatch lets a task of the core begin.
  Lane may_begin(const CoreUnit& core) const;

  /// The next word of the stream goes into the task register, if the lane is set. Returns whether
  /// it is a command.
  Lane take_task(CoreUnit& core, const Lane& lanes);

  /// A word of the output queues goes up the ramp. Returns whether one did.
  bool send_output(CoreUnit& core, Cycle now);

  /// A cycle of the core's stack, before which its slots were taken as `slot` says: those of
  /// `issued` did, or it was for `why`. So many buffers were in use.
  template <std::size_t kContexts>
  void book(CoreUnit& core, const std::array<Lane, kContexts>& issued,
            const LaneIssue<Number>& slot, CoreCycle why, const Lane& in_use) {
    Who who{kNobody, kNobody};
    for (unsigned i = 0; i < kContexts; ++i) {
      if (issued[i][0] != 0) who[issue_.slot_of(i)] = i;
    }
    book(core, who, slot.kept(0)[0] != 0, why, in_use);
  }

  /// Takes the first word of an input queue, of a color.
  Wavelet take(CoreUnit& core, LinkId queue, std::uint64_t color);

  /// The color of the first word of a queue.
  std::uint64_t color_of(LinkId queue) const {
    return static_cast<std::uint64_t>(links_.front(queue).color);
  }

  /// What a core waits for, beside the contexts of its slot; kNobody if it has done all.
  static unsigned waiting(CoreCycle why) { return why == kDone ? kNobody : kNobody + 1 + why; }

  /// Ends the records.
  void end_runs(CoreUnit& core, Cycle now) {
    for (CoreRun& run : core.runs) extend_run(core, run, kNobody, now, 0);
  }

  /// The cycles up to `now` in which the core slept; returns how many.
  template <class State>
  Cycle sleep(CoreUnit& core, State& state, const Lane& in_use, Cycle now) {
    if (core.accounted >= now) return 0;
    const Cycle slept = now - core.accounted;
    extend_run(core, core.runs[0], waiting(core.waiting_for), core.accounted, slept);
    core.accounted = now;
    core.counters.cycles[core.waiting_for] += slept;
    core.counters.buffers_in_use += number(in_use) * slept;
    const Number left = state.task.left[0];
    state.task.left[0] = static_cast<Number>(left - std::min(left, static_cast<Number>(slept)));
    state.slot.sleep(static_cast<Number>(slept));
    return slept;
  }

  /// The next cycle in which something here is over or begins, if nothing arrives. The slots were
  /// taken as `slot` says from this cycle on, the first for its last `extra` cycles by stalls of
  /// another kind.
  template <class State>
  Cycle next_step(const CoreUnit& core, const State& state, const LaneIssue<Number>& slot,
                  Cycle extra, Cycle now) const {
    const Cycle busy = number(slot.left(0));
    Cycle next = kNever;
    const auto due = [&](Cycle at) {
      if (at > now) next = std::min(next, at);
    };
    if (state.task.full[0] != 0) due(now + number(state.task.left));
    due(now + busy);
    due(now + number(slot.left(1)));
    if (extra != 0 && busy > extra) due(now + busy - extra);
    due(core.ramp.opens());
    due(RampRule::up(now));
    due(params_.init_cycles);
    due(IssueRule::opens(now));
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

  void book(CoreUnit& core, const Who& who, bool kept, CoreCycle why, const Lane& in_use);
  /// Keeps the record of beats issued one after the other by the same context, and of cycles in
  /// which a core waited for the same.
  void extend_run(const CoreUnit& core, CoreRun& run, unsigned what, Cycle at, Cycle length);

  const CoreParams params_;
  const IssueRule issue_;
  const LinkRule link_rule_;
  LinkArray& links_;
  EventLog& log_;
  Cycle now_ = 0;  // the cycle being performed
  std::size_t finished_ = 0;
};

/// The same with the cores: a `Core` is a CoreUnit with the state of a control of one lane, and
/// that control. Self derives from this and has
///   Cycle control(core, index, slot)   lets the control do a cycle and books it; returns `extra`
///   as
///                                      next_step() asks for it
///   slept(core, cycles)                what else it counts of cycles in which a core slept
template <class Self, class Core>
class ControlledCores : public LaneCores {
 public:
  Cycle step(std::size_t index, Cycle now) override {
    Core& core = cores_[index];
    if (core.accounted > now) return kNever;
    if (core.weights == kNoLink) {  // it only lends its router
      account(index, now + 1);
      return kNever;
    }
    account(index, now);
    core.accounted = now + 1;
    now_ = now;
    const LaneIssue<Number> slot = core.state.slot;
    core.acted = send_output(core, now) || core.state.releasing[0] != 0;
    const Cycle extra = self().control(core, index, slot);
    return core.acted ? now + 1 : next_step(core, core.state, slot, extra, now);
  }
  void account(std::size_t index, Cycle now) override {
    Core& core = cores_[index];
    self().slept(core, sleep(core, core.state, in_use(core), now));
  }
  void settle(std::size_t index, Cycle now) override {
    account(index, now);
    end_runs(cores_[index], now);
  }
  std::size_t size() const override { return cores_.size(); }
  const CoreCounters& counters(std::size_t core) const override { return cores_[core].counters; }

 protected:
  using LaneCores::LaneCores;

  static Lane in_use(const Core& core) { return core.control->buffers_in_use(core.state); }
  void slept(Core& /*core*/, Cycle /*cycles*/) {}

  // Of what a control asks for; a place is a core.
  Lane has_word(std::size_t place) const {
    return flag(links_.can_pop(cores_[place].weights, now_));
  }
  Lane may_begin(std::size_t place) const { return LaneCores::may_begin(cores_[place]); }

  std::vector<Core> cores_;

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace lacuna::wse

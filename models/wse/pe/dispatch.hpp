// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// How long a wavelet that has been taken out of its queue waits in the task register of a core
/// before its task can begin, and when a core takes the next one.
class Dispatch {
 public:
  explicit Dispatch(const CoreParams& params)
      : data_(params.dispatch),
        command_(params.cmd_cycles),
        overlap_(params.dispatch_overlap),
        begin_(params.init_cycles) {}

  Cycle delay(bool control) const { return control ? command_ : data_; }

  /// Whether a core whose task register is empty may take a wavelet while its main thread works.
  bool overlaps() const { return overlap_; }

  /// Whether a task that is due may begin if so many output queues of its core are full.
  static constexpr bool may_begin(unsigned /*full*/) { return true; }
  static constexpr bool heeds_output() { return !may_begin(1); }

  /// From this cycle on a core takes wavelets.
  Cycle begin() const { return begin_; }

  /// So much longer if the word has a `color` other than the one whose word the core took before,
  /// kNoColor at first. Cores that stream take words of one color.
  static constexpr Cycle change(unsigned /*color*/, unsigned /*before*/) { return 0; }
  static constexpr unsigned kNoColor = kColors;

  /// The longest that a task waits, which is one of another color.
  Cycle longest() const { return std::max(data_, command_) + change(1, 0); }

 private:
  Cycle data_;
  Cycle command_;
  bool overlap_;
  Cycle begin_;
};

/// The task register in every lane.
template <class Number>
struct LaneRegister {
  using Vector = Lanes<Number>;

  Vector full{};
  Vector command{};  // it holds one
  Vector left{};     // cycles until its task can begin

  void begin_cycle() { left += left > 0; }
  Vector due() const { return full & (left == 0); }

  void take(const Dispatch& dispatch, const Vector& lanes, const Vector& commands) {
    command = (command & ~lanes) | commands;
    const Vector delay = select(commands, all_lanes<Number>(dispatch.delay(true)),
                                all_lanes<Number>(dispatch.delay(false)));
    left = select(lanes, delay, left);
    full |= lanes;
  }
  void release(const Vector& lanes) { full &= ~lanes; }
};

}  // namespace lacuna::wse

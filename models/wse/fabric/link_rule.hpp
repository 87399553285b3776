// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// How fast words follow each other over a link: after `words` of them it is shut for `pause`
/// cycles. Each direction counts by itself, also that of an injector; idleness resets nothing.
struct LinkRule {
  unsigned words = 1;
  unsigned pause = 0;
  bool links = true;   // between routers, and from injectors
  bool ramps = false;  // from a core to its router

  explicit LinkRule(const RouterParams& params)
      : words(params.link_words), pause(params.link_cycles - params.link_words) {
    switch (params.link_limit) {
      case LinkLimit::link:
        break;
      case LinkLimit::ramp_up:
        links = false;
        ramps = true;
        break;
      case LinkLimit::both:
        ramps = true;
        break;
    }
  }

  bool acts() const { return pause != 0; }
  bool on_links() const { return acts() && links; }
  bool on_ramps() const { return acts() && ramps; }
  /// Lanes have meters on links alone.
  bool fits_lanes() const { return !on_ramps(); }
};

/// One direction of a link.
class LinkMeter {
 public:
  bool open(Cycle now) const { return opens_ <= now; }
  /// The first cycle in which it is not shut.
  Cycle opens() const { return opens_; }

  void sent(const LinkRule& rule, Cycle now) {
    if (++passed_ != rule.words) return;
    passed_ = 0;
    opens_ = now + 1 + rule.pause;
  }

 private:
  std::uint32_t passed_ = 0;
  Cycle opens_ = 0;
};

/// One direction of a link in every lane.
template <class Number>
class LaneMeter {
 public:
  using Vector = Lanes<Number>;

  /// Lanes that are open in the cycle being performed. To be called once in each.
  Vector open() {
    shut_ += shut_ > 0;
    return shut_ == 0;
  }
  /// Lanes that are open in the next cycle to be performed.
  Vector open_next() const { return shut_ <= 1; }
  /// When a lane that was asked in cycle `now` is open; kNever if it was.
  Cycle opens(Cycle now, unsigned lane) const {
    return shut_[lane] == 0 ? kNever : now + static_cast<Cycle>(shut_[lane]);
  }
  /// So many cycles pass without being performed.
  void sleep(Cycle cycles) {
    constexpr Cycle kMost = std::numeric_limits<Number>::max();
    const Vector passed = all_lanes<Number>(std::min(cycles, kMost));
    shut_ = select(shut_ > passed, shut_ - passed, Vector{});
  }

  void sent(const LinkRule& rule, const Vector& lanes) {
    passed_ -= lanes;
    const Vector full = passed_ == all_lanes<Number>(rule.words);
    passed_ &= ~full;
    shut_ = select(full, all_lanes<Number>(rule.pause + 1), shut_);
  }

 private:
  Vector passed_{};
  Vector shut_{};
};

}  // namespace lacuna::wse

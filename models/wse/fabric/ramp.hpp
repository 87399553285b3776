// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"

namespace lacuna::wse {

/// In which cycles the ramp of a core carries words.
struct RampRule {
  /// The first cycle, from `now` on, in which one can go up to the router,
  static constexpr Cycle up(Cycle now) { return now; }
  /// and down to the core.
  static constexpr Cycle down(Cycle now) { return now; }
  /// Whether that is each cycle.
  static constexpr bool always_open() {
    for (Cycle now = 0; now < 1024; ++now) {
      if (up(now) != now || down(now) != now) return false;
    }
    return true;
  }
};

/// A word of the output queues of a core, put there before cycle `now`, goes up the ramp if that is
/// open for its color; the queues take turns, `next` is asked first. `queue_of(i)` is the i-th of
/// `count` queues, `ramp_of(i)` where its first word goes; `meter` is that of the ramp. Returns
/// whether one went, of which `tell(queue)` was told before.
template <class QueueOf, class RampOf, class Tell>
bool send_up(LinkArray& links, const LinkRule& rule, LinkMeter& meter, std::size_t count,
             std::size_t& next, Cycle now, const QueueOf& queue_of, const RampOf& ramp_of,
             const Tell& tell) {
  if (!meter.open(now) || RampRule::up(now) != now) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t which = next + i;
    if (which >= count) which -= count;
    const LinkId queue = queue_of(which);
    if (!links.can_pop(queue, now)) continue;
    const LinkId ramp = ramp_of(which);
    if (!links.can_push(ramp, now)) continue;
    tell(queue);
    links.push(ramp, now, links.pop(queue, now));
    if (rule.on_ramps()) meter.sent(rule, now);
    next = which + 1 == count ? 0 : which + 1;
    return true;
  }
  return false;
}

}  // namespace lacuna::wse

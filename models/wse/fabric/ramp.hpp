// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"

namespace lacuna::wse {

/// A word of the output queues of a core, put there before cycle `now`, goes up the ramp if that is
/// open for its color; the queues take turns, `next` is asked first. `queue_of(i)` is the i-th of
/// `count` queues, `ramp_of(i)` where its first word goes; `meter` is that of the ramp. Returns
/// whether one went, of which `tell(color, sent)` was told when it was put there.
template <class QueueOf, class RampOf, class Tell>
bool send_up(LinkArray& links, const LinkRule& rule, LinkMeter& meter, std::size_t count,
             std::size_t& next, Cycle now, const QueueOf& queue_of, const RampOf& ramp_of,
             const Tell& tell) {
  if (!meter.open(now)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t which = next + i;
    if (which >= count) which -= count;
    const LinkId queue = queue_of(which);
    if (!links.can_pop(queue, now)) continue;
    const LinkId ramp = ramp_of(which);
    if (!links.can_push(ramp, now)) continue;
    tell(links.front(queue).color, links.front_sent(queue));
    links.push(ramp, now, links.pop(queue, now));
    if (rule.on_ramps()) meter.sent(rule, now);
    next = which + 1 == count ? 0 : which + 1;
    return true;
  }
  return false;
}

}  // namespace lacuna::wse

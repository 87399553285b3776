// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/fabric/ramp.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// Why what is known of all links, queues and slots alike does not suffice. Empty if it does.
inline std::string reason_against_alike(const RouterParams& router) {
  if (!QueueShapes(router).links_alike()) return "links of some directions or colors are longer";
  if (kSlotFree != 1) return "a slot of a queue is not free in the next cycle";
  if (!IssueRule::always_open()) return "in some cycles no beat is issued";
  if (!RampRule::always_open()) return "in some cycles ramps carry no words";
  if (Dispatch::heeds_output()) return "tasks wait for room in output queues";
  if (!LinkRule(router).fits_lanes()) {
    return "ramps are shut after so many words (router.link_limit)";
  }
  return "";
}

/// Why lanes cannot stand for routers of these parameters: what they count does not suffice. Empty
/// if they can. All that runs in lanes asks here.
inline std::string reason_against_lanes(const RouterParams& router) {
  switch (router.multicast.value()) {
    case Multicast::independent:
      break;
    case Multicast::lockstep:
      return "a word goes south and to the core at once (router.multicast = lockstep)";
  }
  if (!ArbiterRule(router).fits_lanes()) return "routers choose by the age of words";
  return reason_against_alike(router);
}

/// Whether words of a program turn in a router.
inline bool has_turns(const Program& program) {
  for (const RouterProgram& router : program.routers) {
    for (const Route& route : router.routes) {
      for (unsigned port = 0; port < kRamp; ++port) {
        const bool leads = (route.to & bit(port)) != 0;
        if (leads && QueueShapes::turns(route.from, port)) return true;
      }
    }
  }
  return false;
}

}  // namespace lacuna::wse

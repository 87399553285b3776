// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/params.hpp"

namespace lacuna::wse {

/// Why lanes cannot stand for routers of these parameters: what they count does not suffice. Empty
/// if they can. All that runs in lanes asks here.
inline std::string reason_against_lanes(const RouterParams& router) {
  switch (router.multicast.value()) {
    case Multicast::independent:
      break;
    case Multicast::lockstep:
      return "a word goes south and to the core at once (router.multicast = lockstep)";
  }
  if (!ArbiterRule(router).lanes_can()) return "routers choose by the age of words";
  if (!LinkRule(router).lanes_can()) {
    return "ramps are shut after so many words (router.link_limit)";
  }
  return "";
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/params.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse::oracle {

/// What has passed a link or a ramp, for `router.link_words` (doc/model/wafer_router.md): a count
/// of words, and the cycle from which on the next may follow.
struct Traffic {
  unsigned words = 0;
  Cycle open_from = 0;

  bool is_open(Cycle now) const { return now >= open_from; }

  void pass(const RouterParams& params, Cycle now) {
    ++words;
    if (words % params.link_words != 0) return;
    open_from = now + 1 + (params.link_cycles - params.link_words);
  }
};

inline bool limits_links(const RouterParams& params) {
  switch (params.link_limit.value()) {
    case LinkLimit::link:
    case LinkLimit::both:
      return true;
    case LinkLimit::ramp_up:
      return false;
  }
  return false;
}

inline bool limits_ramps(const RouterParams& params) {
  switch (params.link_limit.value()) {
    case LinkLimit::ramp_up:
    case LinkLimit::both:
      return true;
    case LinkLimit::link:
      return false;
  }
  return false;
}

}  // namespace lacuna::wse::oracle

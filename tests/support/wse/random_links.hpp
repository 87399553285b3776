// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/params.hpp"
#include "sim/base/random.hpp"

namespace lacuna::wse {

/// In half of all cases links are shut for a while after some words, and in half the ramp into the
/// core is longer. `ramps`: ramps may be shut, too. Draws from streams of its own, so that what
/// else a case draws stays as it is.
inline void draw_link_rule(std::uint64_t seed, RouterParams& router, bool ramps = false) {
  Random inwards(stream_seed(seed, "ramp inwards"));
  if (inwards.bounded(2) == 0) router.ramp_in = static_cast<unsigned>(1 + inwards.bounded(3));
  Random random(stream_seed(seed, "link rule"));
  if (random.bounded(2) == 0) return;
  const auto words = static_cast<unsigned>(1 + random.bounded(9));
  router.link_words = words;
  router.link_cycles = static_cast<unsigned>(words + random.bounded(4));
  if (ramps) router.link_limit = static_cast<LinkLimit>(random.bounded(3));
}

/// In half of all cases microthreads have an issue slot of their own, from a stream likewise.
inline void draw_slots(std::uint64_t seed, CoreParams& core) {
  core.slots = static_cast<unsigned>(1 + Random(stream_seed(seed, "slots")).bounded(2));
}

/// In half of all cases words take longer around a corner, from a stream likewise.
inline void draw_turn(std::uint64_t seed, RouterParams& router) {
  Random random(stream_seed(seed, "turn"));
  if (random.bounded(2) == 0) router.turn = static_cast<unsigned>(1 + random.bounded(3));
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/lanes.hpp"
#include "models/wse/params.hpp"

namespace lacuna::wse {

/// The buffers on the ways between cores, in every lane. A place is taken when a word sets out for
/// it, so that a stage holds its entries and what a ramp or a hop has on its way; words arrive in
/// the order of the bits they set.
template <class Number>
struct LaneLimits {
  explicit LaneLimits(const HardwareParams& params)
      : w_capacity(all_lanes<Number>(params.queue.weights + params.router.ramp - 1)),
        r_capacity(all_lanes<Number>(params.queue.ring_in + params.router.ramp - 1)),
        u_capacity(all_lanes<Number>(params.router.entries + params.router.ramp - 1)),
        hop_capacity(all_lanes<Number>(params.router.entries + params.router.hop - 1)),
        out_depth(all_lanes<Number>(params.queue.ring_out)),
        ramp_bit(all_lanes<Number>(std::uint64_t{1} << (params.router.ramp - 1))),
        hop_bit(all_lanes<Number>(std::uint64_t{1} << (params.router.hop - 1))) {}

  Lanes<Number> w_capacity, r_capacity;  // words to the queues of weights and of the ring
  Lanes<Number> u_capacity;              // words from a core to its router
  Lanes<Number> hop_capacity;            // words to the next router
  Lanes<Number> out_depth;               // words of an output queue
  Lanes<Number> ramp_bit, hop_bit;       // of a word that sets out
};

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/counters.hpp"
#include "models/wse/lanes.hpp"

namespace lacuna::wse {

/// Why lanes of cores issued nothing; flags, or how often it was so. A lane that is not in any of
/// these has done all. With two slots a cycle in which a beat of the main thread is issued or keeps
/// its slot is that one's; a beat of a microthread in it is beside.
template <class Number>
struct CoreWaits {
  using Vector = Lanes<Number>;

  Vector dispatch{}, weights{}, ring_in{}, ring_out{}, buffer{}, conflict{}, residual{};
  Vector beside{};  // no wait

  /// Counts a cycle in the lanes of `flags`.
  void count(const CoreWaits& flags) {
    dispatch -= flags.dispatch;
    weights -= flags.weights;
    ring_in -= flags.ring_in;
    ring_out -= flags.ring_out;
    buffer -= flags.buffer;
    conflict -= flags.conflict;
    residual -= flags.residual;
    beside -= flags.beside;
  }

  /// The flag of one lane.
  CoreCycle why() const {
    CoreCycle why = kDone;
    if (dispatch[0] != 0) why = kDispatch;
    if (weights[0] != 0) why = kWaitWeights;
    if (ring_in[0] != 0) why = kWaitRingIn;
    if (ring_out[0] != 0) why = kWaitRingOut;
    if (buffer[0] != 0) why = kWaitBuffer;
    if (conflict[0] != 0) why = kConflict;
    if (residual[0] != 0) why = kResidual;
    return why;
  }
};

}  // namespace lacuna::wse

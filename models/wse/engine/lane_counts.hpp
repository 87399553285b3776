// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/wse/counters.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/pe/core_waits.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// What a lane of a row of cores counted.
struct LaneCounts {
  /// By CoreCycle: beats if they are counted, scalar ones among those in conflict.
  std::array<std::uint64_t, kCoreCycles> cycles{};
  std::uint64_t stream_words = 0;  // taken, and of reductions; likewise
  std::uint64_t sum_words = 0;
  std::uint64_t in_use = 0;
  std::uint64_t elements = 0;  // of those that are held one by one
  std::uint64_t beside = 0;
  BufferCounts<std::uint64_t> heads;  // of the router's buffer of the stream
  std::uint64_t closures = 0;         // heads that found the link to another row closed
  StreamCounts tallies{};
  Cycle streamed = 0;  // of a weight gradient: the first cycle in which the chain could issue
  Cycle end = 0;

  /// Adds what a lane has waited for.
  template <class Number>
  void add(const CoreWaits<Number>& waited, std::size_t lane) {
    const auto more = [lane](const Lanes<Number>& counted) {
      return static_cast<std::uint64_t>(counted[lane]);
    };
    cycles[kDispatch] += more(waited.dispatch);
    cycles[kWaitWeights] += more(waited.weights);
    cycles[kWaitRingIn] += more(waited.ring_in);
    cycles[kWaitRingOut] += more(waited.ring_out);
    cycles[kWaitBuffer] += more(waited.buffer);
    cycles[kConflict] += more(waited.conflict);
    cycles[kResidual] += more(waited.residual);
    beside += more(waited.beside);
  }
};

}  // namespace lacuna::wse

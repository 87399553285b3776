// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wse/counters.hpp"
#include "models/wse/lanes.hpp"
#include "models/wse/pe/core_waits.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// What a lane of a row of cores counted.
struct LaneCounts {
  std::uint64_t fma = 0;  // and sums: if beats are counted
  std::uint64_t sums = 0;
  std::uint64_t stream_words = 0;  // taken, and of reductions; likewise
  std::uint64_t sum_words = 0;
  std::uint64_t dispatch = 0;
  std::uint64_t weights = 0;  // cycles without a wavelet
  std::uint64_t ring_in = 0;
  std::uint64_t ring_out = 0;
  std::uint64_t buffer = 0;
  std::uint64_t in_use = 0;
  std::uint64_t conflict = 0;
  std::uint64_t scalar = 0;  // and elements, of those that are held one by one
  std::uint64_t elements = 0;
  std::uint64_t residual = 0;
  std::uint64_t beside = 0;
  std::uint64_t stall_weights = 0;  // of the router at the ramp, by the head of its buffer
  std::uint64_t closures = 0;       // of them, those that found the link to another row closed
  StreamCounts tallies{};
  Cycle streamed = 0;  // of a weight gradient: the first cycle in which the chain could issue
  Cycle end = 0;

  /// Adds what a lane has waited for.
  template <class Number>
  void add(const CoreWaits<Number>& waited, std::size_t lane) {
    const auto more = [lane](const Lanes<Number>& counted) {
      return static_cast<std::uint64_t>(counted[lane]);
    };
    dispatch += more(waited.dispatch);
    weights += more(waited.weights);
    ring_in += more(waited.ring_in);
    ring_out += more(waited.ring_out);
    buffer += more(waited.buffer);
    conflict += more(waited.conflict);
    residual += more(waited.residual);
    beside += more(waited.beside);
  }
};

}  // namespace lacuna::wse

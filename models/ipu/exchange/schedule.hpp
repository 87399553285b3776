// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/exchange/streams.hpp"
#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {

/// A train, or what of it is sent at once.
struct Emission {
  std::uint32_t train;
  std::uint32_t start;
  std::uint32_t first;  // of its receivers
  std::uint32_t count;
};

/// When everything is sent.
struct Schedule {
  std::vector<Emission> emissions;
  std::vector<TrainReceiver> receivers;  // those of a train in the order of its emissions
  Cycle length = 0;                      // until all receivers are free
};

/// Finds a short schedule; looks no further once one is close to `bound`. A train may be split: a
/// sender that has time to spare repeats it for receivers that were busy the first time.
Schedule schedule_trains(const ChipParams& params, const LatencyTable& latencies,
                         const StreamList& streams, Cycle bound);

}  // namespace lacuna::ipu

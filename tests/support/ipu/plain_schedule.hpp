// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/exchange/schedule.hpp"

namespace lacuna::ipu::test {

/// What schedule_trains() promises, word for word: every candidate is looked at in its turn and in
/// full, tables are plain, nothing is known in advance. Slow.
Schedule plain_schedule(const ChipParams& params, const LatencyTable& latencies,
                        const StreamList& streams, Cycle bound);

}  // namespace lacuna::ipu::test

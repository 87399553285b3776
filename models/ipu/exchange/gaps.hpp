// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/exchange/schedule.hpp"

namespace lacuna::ipu {

/// Shortens a schedule that is much longer than `bound`. What is received last moves into earlier
/// cycles in which sender and receivers are free, each tile or pair by itself. A sender that goes
/// on sending the train to others repeats it. It ends with the first train that finds no such
/// cycles. Emissions are then in no order.
void close_gaps(const ChipParams& params, const LatencyTable& latencies, const StreamList& streams,
                Cycle bound, Schedule& schedule);

}  // namespace lacuna::ipu

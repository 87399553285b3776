// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/wse/inference/decode_times.hpp"
#include "sim/machines/wse/request.hpp"

namespace lacuna {

/// The published placement as far as a wafer has room: 2 x 4 blocks of 256 x 256 cores at most. On
/// fewer columns or rows one block of them, as many as the heads of `decoder` can be dealt to.
DecodePlacement usual_placement(const WseParams& params, const wse::DecoderModel& decoder);

/// Rows of `workload` that are layers of a decoder become groups, each a program of DecodeLayer:
/// weights and caches of all its layers stay in the cores. What no placement can hold, and what is
/// asked for otherwise by its mode or residency, stays rows; `alone` of a layer's first row says
/// why.
void group_decoder_rows(const WseParams& params, WorkloadTrace& workload, const MaskOf& mask_of,
                        std::uint64_t seed);

/// A row of such a group: its phases of the group's program, whose cycles are exact. Its counters
/// are those of the whole layer, shared by time.
OpResult run_decoder_row(const WaferRequest& request);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/machines/wse/request.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {

/// What the planner of streamed products needs of the machine, and of a row: without values, and
/// with all of X. `beside`: StreamingJob::beside.
wse::StreamingSetup streaming_setup(const WseParams& params);
wse::StreamingJob streaming_job(const LayerOp& op, const Mask* mask, bool resident,
                                std::uint64_t beside = 0);

/// UnsupportedError if so many cores, stepped one by one for so long, as intervals need it, would
/// take more than ten minutes.
void require_stepped(std::uint64_t cores, Cycle cycles);

/// Of rows of cores that all differ some are simulated and stand for all.
struct RowSample {
  std::uint32_t rows = 0;  // about so many
  Cycle cycles = 0;        // found: of all rows, if they are like these,
  Cycle fullest = 0;       // and if all hold as much as any, see wse::SampledRows
};

/// Runs a product on a wafer: its weights streamed, or `resident` in the cores while activations
/// are streamed. The row is of a kind, mode and type that streaming can do. A `sample`, if asked
/// for, is refused (UnsupportedError) where rows do not run in lanes.
OpResult run_streamed(const WaferRequest& request, bool resident, RowSample* sample = nullptr);

}  // namespace lacuna

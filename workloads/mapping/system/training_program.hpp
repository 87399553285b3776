// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/ledger.hpp"
#include "workloads/mapping/system/training_step.hpp"

namespace lacuna::system {

/// The program of one weight update of all replicas: for each phase the passes of its pipeline over
/// all micro-batches, then the reduction of gradients over replicas and the update.
Program training_program(const TrainingStep& step);

/// The same without what moves, for its memory alone: of costs, sizes are enough.
Program training_entries(const TrainingStep& step);

/// What the entries of a step take at most, on chips of so many bytes.
struct TrainingMemory {
  std::vector<MemoryAccount> chips;  // of a replica, in every phase
  StreamingAccount streaming;
};
TrainingMemory training_memory(const TrainingStep& step, std::uint64_t chip_bytes);

}  // namespace lacuna::system

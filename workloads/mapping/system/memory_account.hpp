// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/ledger.hpp"
#include "workloads/mapping/system/training_program.hpp"

namespace lacuna::system {

/// Bytes of the streaming memory of a machine.
struct StreamingAccount {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = 0;
};

struct ChipMemory {
  std::uint64_t bytes = 0;  // of the tiles that work
  unsigned tiles = 1;       // of those
};

/// What the entries of a step take at most.
struct TrainingMemory {
  std::vector<MemoryAccount> chips;  // of a replica, in every phase
  StreamingAccount streaming;
};
TrainingMemory training_memory(const TrainingStep& step, const ChipMemory& chip);

}  // namespace lacuna::system

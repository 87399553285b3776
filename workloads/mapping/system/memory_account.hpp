// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/system/training_program.hpp"

namespace lacuna::system {

/// Bytes of one chip in one phase, at its fullest: in the passes, or while weights are updated,
/// when there are no activations and the state of a part may be there that comes from elsewhere.
struct MemoryAccount {
  std::size_t phase = 0;
  unsigned chip = 0;  // of a replica
  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;
  std::uint64_t state = 0;        // of the optimizer
  std::uint64_t activations = 0;  // kept for the backward pass of micro-batches under way
  std::uint64_t working = 0;      // of the blocks at work, forward and backward
  std::uint64_t code = 0;
  std::uint64_t buffers = 0;
  std::uint64_t capacity = 0;

  std::uint64_t total() const {
    return weights + gradients + state + activations + working + code + buffers;
  }
  bool fits() const { return total() <= capacity; }
};

/// Bytes of the streaming memory of a machine.
struct StreamingAccount {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = 0;
};

struct ChipMemory {
  std::uint64_t bytes = 0;  // of the chip
  unsigned tiles = 1;
};

/// The accounts of every chip of a replica, in every phase.
std::vector<MemoryAccount> memory_accounts(const TrainingStep& step, const ChipMemory& chip);

/// What a machine keeps in streaming memory.
StreamingAccount streaming_account(const TrainingStep& step);

}  // namespace lacuna::system

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/memory_account.hpp"

#include <algorithm>
#include <cmath>

namespace lacuna::system {

namespace {

std::uint64_t tiles_bytes(double kib, const ChipMemory& chip) {
  return static_cast<std::uint64_t>(std::llround(kib * 1024)) * chip.tiles;
}

}  // namespace

TrainingMemory training_memory(const TrainingStep& step, const ChipMemory& chip) {
  const TrainingParams& training = step.training;
  const ProgramMemory read = memory_of(training_entries(step), training.pipeline);
  TrainingMemory memory;
  for (std::size_t phase = 0; phase < read.chips.size(); ++phase) {
    for (unsigned place = 0; place < training.pipeline; ++place) {
      MemoryAccount account{phase, place, read.chips[phase][place], chip.bytes};
      account.use.bytes[static_cast<std::size_t>(Held::code)] =
          tiles_bytes(training.code_kib, chip);
      account.use.bytes[static_cast<std::size_t>(Held::buffers)] =
          tiles_bytes(training.buffer_kib, chip);
      memory.chips.push_back(account);
    }
  }
  const std::uint64_t machines =
      (training.chips() + step.system.machine_chips - 1) / step.system.machine_chips;
  memory.streaming.bytes =
      read.streaming.total() * training.replicas / std::max<std::uint64_t>(machines, 1);
  memory.streaming.capacity =
      static_cast<std::uint64_t>(std::llround(step.system.gateway.ddr_gb * 1e9));
  return memory;
}

}  // namespace lacuna::system

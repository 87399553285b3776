// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/pattern_update.hpp"

#include <numeric>

#include "workloads/mapping/system/replica_work.hpp"

namespace lacuna::system {

Segment pattern_update(const TrainingStep& step) {
  const TrainingParams& training = step.training;
  std::vector<ChipCost> sums(training.pipeline);  // of forward rows: of each operand once
  std::uint64_t host_ns = 0;
  for (const Stages& stages : step.phases) {
    for (const Stage& stage : stages) {
      const ChipCost cost = forward_cost(step.costs[stage.chip], stage);
      sums[stage.chip] += cost;
      host_ns += cost.host_ns * training.tensor;
    }
  }
  const ReplicaWork replicas{step};
  Segment made = replicas.segment("pattern update");
  const auto send = [&](std::uint32_t chips, Way way) {
    for (std::uint32_t chip = 0; chip < chips; ++chip) {
      const std::uint64_t bytes = sums[chip / training.tensor % training.pipeline].host_bytes;
      if (bytes != 0) made.transfer_and_wait({chip, chip, bytes, way}, Use::host);
    }
  };
  const auto count = static_cast<std::uint32_t>(training.chips());
  Chips chips(count);
  std::iota(chips.begin(), chips.end(), 0U);
  send(training.tensor * training.pipeline, Way::to_host);
  if (count > 1) made.barrier(chips, step.system.sync_ns(count), Use::host);
  for (const std::uint32_t chip : chips) made.work(chip, Use::host, host_ns);
  send(count, Way::from_host);
  return made;
}

}  // namespace lacuna::system

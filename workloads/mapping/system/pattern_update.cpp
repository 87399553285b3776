// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/pattern_update.hpp"

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
  Segment made;
  made.name = "pattern update";
  made.chips.resize(step.system.chips());
  std::vector<std::uint32_t> chips;
  const auto send = [&](unsigned replicas, Way way) {
    for (unsigned replica = 0; replica < replicas; ++replica) {
      for (unsigned place = 0; place < training.pipeline; ++place) {
        if (sums[place].host_bytes == 0) continue;
        for (unsigned shard = 0; shard < training.tensor; ++shard) {
          const std::uint32_t chip = first_chip(training, replica, place) + shard;
          made.transfer_and_wait({chip, chip, sums[place].host_bytes, way}, Use::host);
        }
      }
    }
  };
  for (std::uint32_t chip = 0; chip < training.chips(); ++chip) chips.push_back(chip);
  send(1, Way::to_host);
  if (chips.size() > 1)
    made.barrier(chips, step.system.sync_ns(static_cast<unsigned>(chips.size())), Use::host);
  for (const std::uint32_t chip : chips) made.work(chip, Use::host, host_ns);
  send(training.replicas, Way::from_host);
  return made;
}

}  // namespace lacuna::system

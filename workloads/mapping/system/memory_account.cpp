// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/memory_account.hpp"

#include <algorithm>
#include <cmath>

namespace lacuna::system {

namespace {

/// What the blocks of a stage keep of one micro-batch.
std::uint64_t kept_bytes(const TrainingStep& step, const Stage& stage) {
  const TrainingParams& training = step.training;
  if (training.activations == Activations::stored) {
    std::uint64_t bytes = 0;
    const auto& parts = step.costs[stage.chip];
    const auto of = [&](Part part) {
      return parts[static_cast<std::size_t>(part)].activation_bytes;
    };
    bytes += of(Part::attention) * stage.attention + of(Part::ffn) * stage.ffn;
    if (stage.head) bytes += of(Part::head);
    return bytes;
  }
  const std::uint64_t every = 2 * training.checkpoint_every;  // two blocks are a layer
  const std::uint64_t inputs = (stage.blocks() + every - 1) / every;
  const bool on_chip = training.activations == Activations::recomputed;
  // with tensor shards each keeps its share of the inputs
  return (on_chip ? inputs : 1) * step.model.boundary_bytes / training.tensor;
}

/// Activations of the block at work: all results of as many layers as lie between checkpoints.
std::uint64_t working_bytes(const TrainingStep& step, const Stages& stages, unsigned chip) {
  std::uint64_t most = 0;
  const auto& parts = step.costs[chip];
  const auto of = [&](Part part) -> const PartCost& {
    return parts[static_cast<std::size_t>(part)];
  };
  for (const Stage& stage : stages) {
    if (stage.chip != chip) continue;
    std::uint64_t bytes = 0;
    if (step.training.activations != Activations::stored) {
      const unsigned attention =
          std::min<unsigned>(stage.attention, step.training.checkpoint_every);
      const unsigned ffn = std::min<unsigned>(stage.ffn, step.training.checkpoint_every);
      bytes =
          of(Part::attention).activation_bytes * attention + of(Part::ffn).activation_bytes * ffn;
    }
    if (stage.head) bytes = std::max(bytes, of(Part::head).activation_bytes);
    if (stage.embedding) bytes = std::max(bytes, of(Part::embedding).activation_bytes);
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

std::vector<MemoryAccount> memory_accounts(const TrainingStep& step, const ChipMemory& chip) {
  const TrainingParams& training = step.training;
  std::vector<MemoryAccount> accounts;
  for (std::size_t phase = 0; phase < step.phases.size(); ++phase) {
    const Stages& stages = step.phases[phase];
    for (unsigned place = 0; place < training.pipeline; ++place) {
      MemoryAccount account;
      account.phase = phase;
      account.chip = place;
      const std::uint64_t elements = elements_of(step.costs, stages, place);
      const bool streamed = training.phases > 1;
      // a streamed phase has its weights whole; else what is gathered for a step is a buffer
      account.weights = streamed ? 2 * elements : 2 * elements / training.rts;
      account.gradients = 2 * elements;
      const std::uint64_t state = elements * step.state_bytes / training.rts_state;
      if (training.state == Place::chip && !streamed) account.state = state;
      for (std::size_t s = 0; s < stages.size(); ++s) {
        if (stages[s].chip != place) continue;
        const bool ends = phase + 1 == step.phases.size();  // others keep theirs elsewhere
        const std::uint64_t under_way =
            training.schedule == Schedule::sequential || !ends
                ? 1
                : std::min<std::uint64_t>(2 * (stages.size() - 1 - s) + 1, training.accumulation);
        account.activations += under_way * kept_bytes(step, stages[s]);
      }
      account.working = working_bytes(step, stages, place);
      account.code =
          static_cast<std::uint64_t>(std::llround(training.code_kib * 1024)) * chip.tiles;
      account.buffers =
          static_cast<std::uint64_t>(std::llround(training.buffer_kib * 1024)) * chip.tiles;
      account.capacity = chip.bytes;
      accounts.push_back(account);
    }
  }
  return accounts;
}

StreamingAccount streaming_account(const TrainingStep& step) {
  const TrainingParams& training = step.training;
  StreamingAccount account;
  account.capacity = static_cast<std::uint64_t>(std::llround(step.system.gateway.ddr_gb * 1e9));
  std::uint64_t replica = 0;  // of all chips of a replica
  for (const Stages& stages : step.phases) {
    for (unsigned place = 0; place < training.pipeline; ++place) {
      const std::uint64_t elements = elements_of(step.costs, stages, place) * training.tensor;
      const bool streamed = training.phases > 1;
      if (streamed) replica += 2 * elements / training.rts;
      if (streamed || training.state == Place::streaming) {
        replica += elements * step.state_bytes / training.rts_state;
      }
    }
    if (&stages != &step.phases.back()) {  // inputs of all layers, results, and gradients
      std::uint64_t inputs = 2;
      for (const Stage& stage : stages) inputs += (stage.blocks() + 1) / 2;
      replica += inputs * step.model.boundary_bytes * training.accumulation;
    }
    if (training.activations == Activations::offloaded) {
      for (std::size_t s = 0; s < stages.size(); ++s) {
        const std::uint64_t inputs = (stages[s].blocks() + 1) / 2;
        replica += inputs * step.model.boundary_bytes * (2 * (stages.size() - 1 - s) + 1);
      }
    }
  }
  const std::uint64_t machines =
      (training.chips() + step.system.machine_chips - 1) / step.system.machine_chips;
  account.bytes = replica * training.replicas / std::max<std::uint64_t>(machines, 1);
  return account;
}

}  // namespace lacuna::system

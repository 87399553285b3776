// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/memory_account.hpp"

#include <algorithm>
#include <cmath>

namespace lacuna::system {

namespace {

const PartCost& of(const TrainingStep& step, unsigned chip, Part part) {
  return step.costs[chip][static_cast<std::size_t>(part)];
}

/// The inputs of layers that a stage keeps; two blocks are a layer.
std::uint64_t inputs_of(const TrainingParams& training, const Stage& stage) {
  const std::uint64_t every = std::uint64_t{2} * training.checkpoint_every;
  return (stage.blocks() + every - 1) / every;
}

/// What the blocks of a stage keep of one micro-batch.
std::uint64_t kept_bytes(const TrainingStep& step, const Stage& stage) {
  const TrainingParams& training = step.training;
  const std::uint64_t input = step.model.boundary_bytes / training.tensor;
  if (training.activations == Activations::stored) {
    std::uint64_t bytes = of(step, stage.chip, Part::attention).live.kept * stage.attention +
                          of(step, stage.chip, Part::ffn).live.kept * stage.ffn +
                          stage.blocks() * input;
    if (stage.head) bytes += of(step, stage.chip, Part::head).live.kept;
    return bytes;
  }
  const bool on_chip = training.activations == Activations::recomputed;
  // with tensor shards each keeps its share of the inputs
  return (on_chip ? inputs_of(training, stage) : 1) * input;
}

/// The most that is there of a micro-batch while the blocks between two kept inputs are computed
/// again and go backward, one after the other; or, with all kept, beside what is kept.
std::uint64_t blocks_at_work(const TrainingStep& step, const Stage& stage) {
  const TrainingParams& training = step.training;
  const bool stored = training.activations == Activations::stored;
  const std::uint64_t boundary = step.model.boundary_bytes;
  const std::uint64_t share = boundary / training.tensor;
  // an input is whole at work, unless the sequence is shared; the share of the first is kept anyway
  const std::uint64_t whole = training.share_sequence ? share : boundary / training.tensor_columns;
  std::uint64_t kept = whole - share;
  std::uint64_t most = 0;
  const unsigned layers = stored ? 1 : training.checkpoint_every.value();
  for (unsigned layer = 0; layer < layers; ++layer) {
    for (const Part part : {Part::attention, Part::ffn}) {
      if (layer >= (part == Part::attention ? stage.attention : stage.ffn)) continue;
      const LiveBytes& live = of(step, stage.chip, part).live;
      const std::uint64_t passes = std::max(live.forward, live.backward);
      most = std::max(most, kept + passes - (stored ? std::min(live.kept, passes) : 0));
      if (!stored) kept += live.kept + whole;
    }
  }
  return most;
}

std::uint64_t working_bytes(const TrainingStep& step, const Stages& stages, unsigned chip) {
  std::uint64_t most = 0;
  for (const Stage& stage : stages) {
    if (stage.chip != chip) continue;
    most = std::max(most, blocks_at_work(step, stage));
    for (const Part part : {Part::head, Part::embedding}) {
      if (!(part == Part::head ? stage.head : stage.embedding)) continue;
      const LiveBytes& live = of(step, chip, part).live;
      most = std::max({most, live.forward, live.backward});
    }
  }
  return most;
}

/// State that comes from streaming memory is there part by part while weights are updated.
std::uint64_t largest_part(const TrainingStep& step, const Stages& stages, unsigned chip) {
  std::uint64_t most = 0;
  for (const Stage& stage : stages) {
    if (stage.chip != chip) continue;
    const auto part = [&](bool here, Part which) {
      if (here) most = std::max(most, of(step, chip, which).elements);
    };
    part(stage.attention > 0, Part::attention);
    part(stage.ffn > 0, Part::ffn);
    part(stage.embedding || stage.head, Part::embedding);
    part(stage.head, Part::head);
  }
  return most;
}

std::uint64_t micro_batches_under_way(const TrainingStep& step, std::size_t phase, std::size_t s) {
  const bool ends = phase + 1 == step.phases.size();  // others keep theirs elsewhere
  if (step.training.schedule == Schedule::sequential || !ends) return 1;
  const std::size_t after = step.phases[phase].size() - 1 - s;
  if (step.training.schedule == Schedule::one_f_one_b) {
    return std::min<std::uint64_t>(after + 1, step.training.accumulation);
  }
  return std::min<std::uint64_t>(2 * after + 1, step.training.accumulation);
}

/// What streams in the background of a phase is there beside what works: the share of the weights
/// of the next phase, forward or backward; with Prefetch::all the state of this one too, and what
/// the update of the one after it has changed.
void add_streams(const TrainingStep& step, std::size_t phase, unsigned place,
                 MemoryAccount& account) {
  const TrainingParams& training = step.training;
  if (training.prefetch == Prefetch::none) return;
  const auto elements = [&](std::size_t other) {
    return elements_of(step.costs, step.phases[other], place);
  };
  const std::uint64_t after = phase + 1 < step.phases.size() ? elements(phase + 1) : 0;
  const std::uint64_t before = phase > 0 ? elements(phase - 1) : 0;
  account.weights += 2 * std::max(after, before) / training.rts;
  if (training.prefetch != Prefetch::all) return;
  account.weights += 2 * after / training.rts_state;
  account.state += (elements(phase) + after) * step.state_bytes / training.rts_state;
}

std::uint64_t tiles_bytes(double kib, const ChipMemory& chip) {
  return static_cast<std::uint64_t>(std::llround(kib * 1024)) * chip.tiles;
}

MemoryAccount account_of(const TrainingStep& step, const ChipMemory& chip, std::size_t phase,
                         unsigned place) {
  const TrainingParams& training = step.training;
  const Stages& stages = step.phases[phase];
  const bool streamed = training.phases > 1;
  const std::uint64_t elements = elements_of(step.costs, stages, place);
  MemoryAccount account;
  account.phase = phase;
  account.chip = place;
  account.capacity = chip.bytes;
  account.code = tiles_bytes(training.code_kib, chip);
  account.buffers = tiles_bytes(training.buffer_kib, chip);
  // a streamed phase has its weights whole; else what is gathered for a step is a buffer
  account.weights = streamed ? 2 * elements : 2 * elements / training.rts;
  account.gradients = 2 * elements;
  const bool elsewhere = training.state == Place::streaming || streamed;
  if (!elsewhere) account.state = elements * step.state_bytes / training.rts_state;
  MemoryAccount update = account;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].chip != place) continue;
    account.activations += micro_batches_under_way(step, phase, s) * kept_bytes(step, stages[s]);
  }
  account.working = working_bytes(step, stages, place);
  add_streams(step, phase, place, account);
  // gradients are reduced before state comes: each replica has its share of them, if state is
  // shared by all; a streamed phase then needs its share of the weights alone
  if (training.rts_state == training.replicas) update.gradients /= training.rts_state;
  if (streamed) update.weights /= training.rts_state;
  if (elsewhere && training.prefetch != Prefetch::all) {
    update.state = largest_part(step, stages, place) * step.state_bytes / training.rts_state;
  }
  add_streams(step, phase, place, update);
  return update.total() > account.total() ? update : account;
}

}  // namespace

std::vector<MemoryAccount> memory_accounts(const TrainingStep& step, const ChipMemory& chip) {
  std::vector<MemoryAccount> accounts;
  for (std::size_t phase = 0; phase < step.phases.size(); ++phase) {
    for (unsigned place = 0; place < step.training.pipeline; ++place) {
      accounts.push_back(account_of(step, chip, phase, place));
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
      for (const Stage& stage : stages) inputs += inputs_of(training, stage);
      replica += inputs * step.model.boundary_bytes * training.accumulation;
    }
    if (training.activations == Activations::offloaded) {
      for (std::size_t s = 0; s < stages.size(); ++s) {
        const std::uint64_t inputs = inputs_of(training, stages[s]);
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

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/held_bytes.hpp"

#include <algorithm>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::system {

namespace {

const LiveBytes& live_of(const TrainingStep& step, const Stage& stage, Part part) {
  return step.costs[stage.chip][part].live;
}

bool stores(const TrainingParams& training) { return training.activations == Activations::stored; }

/// What a chip has of a block's input while it works, beyond its share of what is kept: an input is
/// whole at work, unless the sequence is shared.
std::uint64_t whole_input(const TrainingStep& step) {
  const TrainingParams& training = step.training;
  const std::uint64_t boundary = step.model.boundary_bytes;
  return training.share_sequence ? boundary / training.tensor : boundary / training.tensor_columns;
}

std::uint64_t beyond_share(const TrainingStep& step) {
  return whole_input(step) - step.model.boundary_bytes / step.training.tensor;
}

}  // namespace

std::uint64_t kept_bytes(const TrainingStep& step, const Stage& stage) {
  const TrainingParams& training = step.training;
  // with tensor shards each keeps its share of the inputs
  const std::uint64_t input = step.model.boundary_bytes / training.tensor;
  if (stores(training)) {
    return live_of(step, stage, Part::attention).kept * stage.attention +
           live_of(step, stage, Part::ffn).kept * stage.ffn + stage.blocks() * input;
  }
  const std::uint64_t every = std::uint64_t{2} * training.checkpoint_every;  // two blocks a layer
  return ceil_div(stage.blocks(), every) * input;
}

std::uint64_t kept_of_head(const TrainingStep& step, const Stage& stage) {
  return stage.head ? live_of(step, stage, Part::head).kept : 0;
}

std::uint64_t forward_bytes(const TrainingStep& step, const Stage& stage) {
  std::uint64_t most = 0;
  const auto look = [&](bool here, Part part, bool kept) {
    if (!here) return;
    const LiveBytes& live = live_of(step, stage, part);
    most = std::max(most, live.forward - (kept ? std::min(live.kept, live.forward) : 0));
  };
  look(stage.attention > 0, Part::attention, stores(step.training));
  look(stage.ffn > 0, Part::ffn, stores(step.training));
  if (stage.blocks() > 0) most += beyond_share(step);
  look(stage.embedding, Part::embedding, false);
  look(stage.head, Part::head, true);
  return most;
}

std::uint64_t backward_bytes_of_head(const TrainingStep& step, const Stage& stage) {
  if (!stage.head) return 0;
  const LiveBytes& live = live_of(step, stage, Part::head);
  return live.backward - std::min(live.kept, live.backward);
}

std::uint64_t backward_bytes(const TrainingStep& step, const Stage& stage) {
  const bool stored = stores(step.training);
  std::uint64_t kept = beyond_share(step);
  std::uint64_t most = 0;
  const unsigned layers = stored ? 1 : step.training.checkpoint_every.value();
  for (unsigned layer = 0; layer < layers; ++layer) {
    for (const Part part : {Part::attention, Part::ffn}) {
      if (layer >= (part == Part::attention ? stage.attention : stage.ffn)) continue;
      const LiveBytes& live = live_of(step, stage, part);
      const std::uint64_t passes = std::max(live.forward, live.backward);
      most = std::max(most, kept + passes - (stored ? std::min(live.kept, passes) : 0));
      if (!stored) kept += live.kept + whole_input(step);
    }
  }
  if (stage.embedding) most = std::max(most, live_of(step, stage, Part::embedding).backward);
  return most;
}

}  // namespace lacuna::system

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/system/model_parts.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna::system {

/// What one chip of a replica does in one stage of a pipeline.
struct Stage {
  unsigned chip = 0;  // of the replica, below `pipeline`
  bool embedding = false;
  bool head = false;
  unsigned attention = 0;  // blocks
  unsigned ffn = 0;

  unsigned blocks() const { return attention + ffn; }
};

/// The stages of one phase of execution, in the order in which a micro-batch passes them. A chip
/// may have several: BERT's head shares its table with the embedding, so that the chip that begins
/// also ends.
using Stages = std::vector<Stage>;

/// The stages of each phase: one phase, or the embedding, `phases` of blocks, and the head. Blocks
/// are laid out in order: as many of attention and feed-forward to each chip as the lists say, or
/// evenly; what the lists leave over is done where the head is. ParameterError if they say more
/// than there is.
std::vector<Stages> stages_of(const TrainingParams& training, unsigned layers);

}  // namespace lacuna::system

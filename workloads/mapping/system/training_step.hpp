// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/system/params.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/mapping/system/model_parts.hpp"
#include "workloads/mapping/system/stages.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna::system {

/// The costs of the parts of a model on each chip of a replica; chips may plan differently.
using PartCosts = OfParts<PartCost>;
using ChipCosts = std::vector<PartCosts>;

/// All that a training step is made of.
struct TrainingStep {
  const SystemParams& system;
  const TrainingParams& training;
  const ModelParts& model;
  const std::vector<Stages>& phases;
  const ChipCosts& costs;
  double clock_ghz = 1;
  Cycle add_cycles = 0;  // of a chip to add 2^20 numbers to as many
  unsigned tiles = 1;    // of a chip, that work
};

/// The first chip of a stage of a replica; `tensor` chips follow each other.
std::uint32_t first_chip(const TrainingParams& training, unsigned replica, unsigned chip);

/// The cost of a stage for one micro-batch in one direction.
ChipCost forward_cost(const PartCosts& costs, const Stage& stage);
ChipCost backward_cost(const PartCosts& costs, const Stage& stage);
ChipCost recompute_cost(const PartCosts& costs, const Stage& stage);

/// What a chip of a replica updates at once: a block, the embedding, a head, a table that the head
/// has for itself as the embedding is elsewhere.
struct UpdatedPart {
  Trained trained;
  ChipCost cost;
  unsigned times = 1;
  bool is_copy = false;  // of the table
};

/// All of them, in all stages of the chip in a phase. Of a tied table the head has a copy, if the
/// embedding is not on the same chip in this phase.
std::vector<UpdatedPart> updated_parts(const TrainingStep& step, const Stages& stages,
                                       unsigned chip);

/// Their sum.
Trained trained_of(const TrainingStep& step, const Stages& stages, unsigned chip);

}  // namespace lacuna::system

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
using ChipCosts = std::vector<std::array<PartCost, kParts>>;

/// All that a training step is made of.
struct TrainingStep {
  const SystemParams& system;
  const TrainingParams& training;
  const ModelParts& model;
  const std::vector<Stages>& phases;
  const ChipCosts& costs;
  double clock_ghz = 1;
  unsigned state_bytes = 8;  // of the optimizer for a weight
  Cycle add_cycles = 0;      // of a chip to add 2^20 numbers to as many
};

/// The first chip of a stage of a replica; `tensor` chips follow each other.
std::uint32_t first_chip(const TrainingParams& training, unsigned replica, unsigned chip);

/// The cost of a stage for one micro-batch in one direction.
ChipCost forward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage);
ChipCost backward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage);
ChipCost recompute_cost(const std::array<PartCost, kParts>& costs, const Stage& stage);

/// The cost of the update of a chip's share of the weights of a stage.
ChipCost update_cost(const std::array<PartCost, kParts>& costs, const Stage& stage);

/// Trained numbers of a chip of a replica, in all of its stages of a phase. The head has the table
/// of the embedding, whether that is on the same chip in this phase or not.
std::uint64_t elements_of(const ChipCosts& costs, const Stages& stages, unsigned chip);

}  // namespace lacuna::system

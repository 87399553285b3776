// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_step.hpp"

#include <algorithm>
#include <cstddef>

namespace lacuna::system {
namespace {

using Costs = std::array<PartCost, kParts>;

const PartCost& of(const Costs& costs, Part part) { return costs[static_cast<std::size_t>(part)]; }

/// What the layers of `stage` cost in one direction, and its embedding and head if `ends`.
ChipCost cost_of(const Costs& costs, const Stage& stage, ChipCost PartCost::*direction,
                 bool ends = true) {
  ChipCost cost;
  const auto add = [&](Part part, unsigned times) {
    for (unsigned i = 0; i < times; ++i) cost += of(costs, part).*direction;
  };
  add(Part::attention, stage.attention);
  add(Part::ffn, stage.ffn);
  if (ends && stage.embedding) add(Part::embedding, 1);
  if (ends && stage.head) add(Part::head, 1);
  return cost;
}

}  // namespace

std::uint32_t first_chip(const TrainingParams& training, unsigned replica, unsigned chip) {
  return (replica * training.pipeline + chip) * training.tensor;
}

ChipCost forward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::forward);
}

ChipCost backward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::backward);
}

ChipCost recompute_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::forward, false);
}

ChipCost update_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::update);
}

std::uint64_t elements_of(const ChipCosts& costs, const Stages& stages, unsigned chip) {
  std::uint64_t elements = 0;
  bool table = false;  // the head shares it with the embedding
  for (const Stage& stage : stages) {
    if (stage.chip != chip) continue;
    const std::array<PartCost, kParts>& parts = costs[chip];
    elements += of(parts, Part::attention).elements * stage.attention;
    elements += of(parts, Part::ffn).elements * stage.ffn;
    if (stage.head) elements += of(parts, Part::head).elements;
    table = table || stage.embedding || stage.head;
  }
  return elements + (table ? of(costs[chip], Part::embedding).elements : 0);
}

}  // namespace lacuna::system

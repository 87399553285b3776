// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_step.hpp"

#include <algorithm>
#include <cstddef>

namespace lacuna::system {
namespace {

using Costs = std::array<PartCost, kParts>;

const PartCost& of(const Costs& costs, Part part) { return costs[static_cast<std::size_t>(part)]; }

void add(ChipCost& sum, const ChipCost& cost, unsigned times) {
  for (unsigned i = 0; i < times; ++i) sum += cost;
}

}  // namespace

std::uint32_t first_chip(const TrainingParams& training, unsigned replica, unsigned chip) {
  return (replica * training.pipeline + chip) * training.tensor;
}

ChipCost forward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost = recompute_cost(costs, stage);
  if (stage.embedding) cost += of(costs, Part::embedding).forward;
  if (stage.head) cost += of(costs, Part::head).forward;
  return cost;
}

ChipCost backward_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost;
  add(cost, of(costs, Part::attention).backward, stage.attention);
  add(cost, of(costs, Part::ffn).backward, stage.ffn);
  if (stage.embedding) cost += of(costs, Part::embedding).backward;
  if (stage.head) cost += of(costs, Part::head).backward;
  return cost;
}

ChipCost recompute_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost;
  add(cost, of(costs, Part::attention).forward, stage.attention);
  add(cost, of(costs, Part::ffn).forward, stage.ffn);
  return cost;
}

ChipCost update_cost(const std::array<PartCost, kParts>& costs, const Stage& stage) {
  ChipCost cost;
  add(cost, of(costs, Part::attention).update, stage.attention);
  add(cost, of(costs, Part::ffn).update, stage.ffn);
  if (stage.embedding) cost += of(costs, Part::embedding).update;
  if (stage.head) cost += of(costs, Part::head).update;
  return cost;
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

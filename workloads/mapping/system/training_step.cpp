// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_step.hpp"

#include <algorithm>
#include <cstddef>

namespace lacuna::system {
namespace {

/// What the layers of `stage` cost in one direction, and its embedding and head if `ends`.
ChipCost cost_of(const PartCosts& costs, const Stage& stage, ChipCost PartCost::*direction,
                 bool ends = true) {
  ChipCost cost;
  const auto add = [&](Part part, unsigned times) { cost.add(costs[part].*direction, times); };
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

ChipCost forward_cost(const PartCosts& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::forward);
}

ChipCost backward_cost(const PartCosts& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::backward);
}

ChipCost recompute_cost(const PartCosts& costs, const Stage& stage) {
  return cost_of(costs, stage, &PartCost::forward, false);
}

std::vector<UpdatedPart> updated_parts(const TrainingStep& step, const Stages& stages,
                                       unsigned chip) {
  const PartCosts& costs = step.costs[chip];
  bool embedding = false;
  bool head = false;
  std::vector<UpdatedPart> parts;
  const auto add = [&](Part part, unsigned times) {
    if (times > 0) parts.push_back({costs[part].trained, costs[part].update, times});
  };
  for (const Stage& stage : stages) {
    if (stage.chip != chip) continue;
    add(Part::attention, stage.attention);
    add(Part::ffn, stage.ffn);
    embedding = embedding || stage.embedding;
    head = head || stage.head;
  }
  add(Part::embedding, embedding ? 1 : 0);
  add(Part::head, head ? 1 : 0);
  if (head && !embedding && step.model.tied) {
    const PartCost& table = costs[Part::embedding];
    parts.push_back({table.table, table.table_update, 1, true});
  }
  return parts;
}

Trained trained_of(const TrainingStep& step, const Stages& stages, unsigned chip) {
  Trained sum;
  for (const UpdatedPart& part : updated_parts(step, stages, chip)) {
    sum += part.trained * part.times;
  }
  return sum;
}

}  // namespace lacuna::system

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/sparsity/decimal.hpp"
#include "models/sparsity/magnitude_field.hpp"
#include "models/sparsity/mask.hpp"

namespace lacuna {

/// Ways to change a pattern during training. Nothing is trained here: every position has a fixed
/// score (a MagnitudeField) in place of its weight, and RigL's gradients are drawn from a seed.
enum class ScheduleKind {
  dynamic_bert,  // dynamic sparse BERT: drop by magnitude, grow at random, cosine
  set,           // SET with a cosine, as configured for Cerebras machines
  set_epochs,    // SET as first published: 30 % of the smallest at every epoch
  rigl,          // RigL: grow the largest gradients
  gradual,       // gradual magnitude pruning by the cubic law
  iterative,     // a fifth removed in each round
  spdf,          // sparse pre-training with a random mask, dense fine-tuning
};

struct ScheduleKindRow {
  ScheduleKind kind;
  const char* name;
  const char* meaning;
  std::uint64_t updates;  // of the pattern
  std::uint64_t steps;    // of training in all; epochs or rounds where the source counts those
};
const std::vector<ScheduleKindRow>& schedule_kinds();

/// A weight matrix that is trained sparse; rows and columns in elements.
struct ScheduleMatrix {
  std::string name;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  WeightRole role = WeightRole::qkv;
};

/// What a schedule is asked for. Shares and densities lie in [0, 1].
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::dynamic_bert;
  Decimal density{1, 1};        // at the end, if it changes
  Decimal first_density{3, 1};  // gradual: at the beginning
  Decimal ratio{5, 1};          // dynamic_bert: of the kept blocks, at most at one update
  std::uint32_t block = 1;
  bool global = false;        // gradual, iterative: one threshold over all matrices
  Decimal fine_tuning{5, 2};  // spdf: share of the steps, all dense
  std::uint64_t updates = 0;  // 0: that of the kind
  std::uint64_t steps = 0;    // 0: that of the kind
  std::uint64_t seed = 1;
};

/// The time between two updates, in which no pattern changes.
struct SchedulePhase {
  std::uint64_t index = 0;
  std::uint64_t first_step = 0;
  std::uint64_t steps = 0;
  double moved = 0;     // share of the kept blocks that the update before this phase moved
  double explored = 0;  // share of all positions that were ever kept
  double density = 1;   // of all matrices together
  bool dense = false;   // no masks
};

/// Calls `visit` for each phase, in order, with a mask for each matrix. RequestError if a matrix
/// has no whole blocks or the options make no schedule.
void walk_schedule(
    const std::vector<ScheduleMatrix>& matrices, const ScheduleOptions& options,
    const std::function<void(const SchedulePhase&, const std::vector<Mask>&)>& visit);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/system/job.hpp"

namespace lacuna {

/// A layout and what it needs.
struct FitRow {
  system::TrainingParams training;
  std::uint64_t most_bytes = 0;  // of a chip, in its fullest phase
  std::uint64_t capacity = 0;
  std::uint64_t streaming_bytes = 0;  // of a machine
  std::uint64_t parameters = 0;       // of the model: those that its pattern keeps
  bool fits = false;
};

/// "the nearest layout that fits: ...", the first of ever larger changes of a layout that fits, and
/// what to type for it: activations recomputed, state in the other place, gradients in parts and a
/// shared sequence, activations in streaming memory, more phases, a longer pipeline; or that none
/// does.
std::string nearest_fit(const TrainingJob& job);

/// Layouts of the model on all chips of the system: every tensor x pipeline x replicas of powers of
/// two that its heads and layers allow, each with the fewest phases and the state on the chips if
/// that fits. Those that do not fit at all are left out.
std::vector<FitRow> fitting_layouts(const TrainingJob& job);

/// The most layers of the model's width whose weights and gradients all chips of the system hold
/// together, one replica on them, without phases; state of the optimizer and inputs of layers in
/// streaming memory. Nothing if one layer is too many.
std::optional<FitRow> largest_held(const TrainingJob& job);

/// The same as a sentence.
std::string largest_text(const TrainingJob& job);

/// Simulates a training step. OutOfMemoryError, with the nearest layout that fits, if it does not
/// fit.
TrainingResult run_training(const TrainingJob& job);

/// The table of `lacuna describe fit`.
std::string fit_text(const TrainingJob& job, bool markdown = false);

}  // namespace lacuna

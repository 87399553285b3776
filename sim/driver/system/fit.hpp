// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/driver/result/result_page.hpp"
#include "sim/driver/system/job.hpp"

namespace lacuna {

/// "the nearest layout that fits: ...", and what to type for it. It is the first that fits of ever
/// larger changes: activations recomputed; state in the other place; gradients in parts and a
/// shared sequence; activations in streaming memory; more phases; a longer pipeline. Or the text
/// that none does.
std::string nearest_fit(const TrainingJob& job);

/// Simulates a training step. OutOfMemoryError, with the nearest layout that fits, if it does not
/// fit.
TrainingResult run_training(const TrainingJob& job);

/// `lacuna describe fit`: layouts of the model on all chips, and the most layers of
/// its width that they hold.
TextPage fit_page(const TrainingJob& job);

}  // namespace lacuna

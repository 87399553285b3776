// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/driver/system/job.hpp"

namespace lacuna {

/// Simulates a training step. OutOfMemoryError, with the nearest layout that fits, if it does not
/// fit.
TrainingResult run_training(const TrainingJob& job);

}  // namespace lacuna

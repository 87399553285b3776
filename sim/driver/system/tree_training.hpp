// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/driver/system/job.hpp"
#include "sim/driver/system/wafer_run.hpp"

namespace lacuna {

/// The same training with as many replicas as a system has chips and the same batch, each chip with
/// its part of it; how chips joined by links share it is left out. RequestError if the batch does
/// not come out even.
system::TrainingParams spread_over_tree(const system::TrainingParams& training, unsigned chips);

/// What of a description is how chips joined by links share a model; a tree has nothing for it.
/// RequestError names the first word whose value is not what it is without being said.
void refuse_layout_on_tree(const system::TrainingParams& training, const std::string& system);

/// A weight update of a model on the chips of a StoreSystem: each is a replica with micro_batch
/// sequences and sees every weight. Simulates each distinct row on a chip, or takes it from the
/// cache, and the passes on the system. OutOfMemoryError, before anything is simulated, if the
/// store or a chip has no room.
WaferSystemRun train_on_tree(const SystemJob& job, const Machine& system);

}  // namespace lacuna

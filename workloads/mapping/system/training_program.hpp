// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/system/program.hpp"
#include "workloads/mapping/system/training_step.hpp"

namespace lacuna::system {

/// The program of one weight update of all replicas: for each phase the passes of its pipeline over
/// all micro-batches, then the reduction of gradients over replicas and the update.
Program training_program(const TrainingStep& step);

/// The same without what moves, for its memory alone: of costs, sizes are enough.
Program training_entries(const TrainingStep& step);

}  // namespace lacuna::system

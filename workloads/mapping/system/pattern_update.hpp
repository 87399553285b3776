// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/system/program.hpp"
#include "workloads/mapping/system/training_step.hpp"

namespace lacuna::system {

/// A new pattern for all sparse matrices. The chips of the first replica send theirs to the host.
/// It makes the new ones one after the other and sends each chip of all replicas its own. Training
/// waits for it.
Segment pattern_update(const TrainingStep& step);

}  // namespace lacuna::system

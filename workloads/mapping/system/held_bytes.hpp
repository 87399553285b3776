// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/system/training_step.hpp"

namespace lacuna::system {

/// What the blocks of a stage keep of one micro-batch for their backward pass, on the chip or in
/// streaming memory: all that it needs, or inputs of layers.
std::uint64_t kept_bytes(const TrainingStep& step, const Stage& stage);

/// What a head keeps of one micro-batch between its passes.
std::uint64_t kept_of_head(const TrainingStep& step, const Stage& stage);

/// The most that is there of a micro-batch, beside what is kept, while a stage's blocks, embedding
/// and head go forward.
std::uint64_t forward_bytes(const TrainingStep& step, const Stage& stage);

/// The same while its head goes backward, and while its blocks and its embedding do: the blocks
/// between two kept inputs are computed again and go backward, one after the other.
std::uint64_t backward_bytes_of_head(const TrainingStep& step, const Stage& stage);
std::uint64_t backward_bytes(const TrainingStep& step, const Stage& stage);

}  // namespace lacuna::system

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/ipu/program.hpp"

namespace lacuna::ipu {

/// How instances of one operation share a chip: `groups` of `tiles` tiles each execute one at a
/// time, in `rounds`. Instance i is that of group i mod groups in round i / groups.
struct BatchPlan {
  std::uint32_t instances = 1;
  std::uint32_t rounds = 1;
  std::uint32_t groups = 1;
  unsigned tiles = 0;

  TileId first_tile(std::uint32_t instance) const {
    return static_cast<TileId>(instance % groups * tiles);
  }
  std::uint32_t round(std::uint32_t instance) const { return instance / groups; }
};

/// The plans worth a look: for numbers of rounds up to 64, the groups that takes. At least one.
std::vector<BatchPlan> batch_plans(std::uint32_t instances, unsigned tiles);

/// The program of one instance, lowered for a chip of `plan.tiles` tiles, made into one for the
/// whole chip `params`: exchanges of all groups in a round are scheduled together. With values,
/// each round has a memory window of its own, and `images` are those of each instance.
Program repeat_program(const ChipParams& params, const Program& one, const BatchPlan& plan,
                       const std::vector<std::vector<Image>>& images);

/// The parameters of a chip of `tiles` tiles, otherwise like `params`, for lowering an instance.
/// Its exchanges are never executed.
ChipParams small_chip(const ChipParams& params, unsigned tiles);

}  // namespace lacuna::ipu

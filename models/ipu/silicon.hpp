// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/chip_params.hpp"
#include "sim/base/silicon.hpp"

namespace lacuna::ipu {

/// What a chip of `tiles` tiles (or of ChipParams::ipu::tiles, if those are more) is made of.
/// `link_gbs` is the rate of the link to its host; links between chips are those of every chip.
Silicon silicon(const ChipParams& params, double tiles, double link_gbs);

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "sim/base/statistics.hpp"

namespace lacuna {

/// All layers of a cycle stack, in their order.
constexpr std::array<Layer, 6> kLayers{Layer::compute, Layer::exchange,  Layer::sync,
                                       Layer::stall,   Layer::imbalance, Layer::idle};

}  // namespace lacuna

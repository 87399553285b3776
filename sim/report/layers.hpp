// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "sim/base/statistics.hpp"

namespace lacuna {

/// All layers of a cycle stack, in their order.
constexpr std::array<Layer, 6> kLayers{Layer::compute, Layer::exchange,  Layer::sync,
                                       Layer::stall,   Layer::imbalance, Layer::idle};

/// Whether another part of a stack is of the layer and kind of this one.
template <class Part>
auto is_like(const Part& part) {
  return [&part](const auto& each) { return each.layer == part.layer && each.kind == part.kind; };
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/system/wafer_system.hpp"

namespace lacuna::system {

/// A layer as it is trained: times of one wafer with its share of the tokens, or of each.
struct WaferLayer {
  std::string name;
  std::uint64_t nonzeros = 0;  // weights that are kept
  std::vector<std::uint64_t> forward_ns;
  std::vector<std::uint64_t> delta_ns;     // empty: its inputs need no gradient
  std::vector<std::uint64_t> gradient_ns;  // empty: inference
  unsigned weight_bytes = 4;               // of each, its place with it
  unsigned gradient_bytes = 4;             //
};

/// The passes of so many steps: forward through the layers, then backward, where a layer's weights
/// come again for the delta, and their indices for the gradient, which goes up. The forward pass
/// of a layer in the next step waits for the update of its weights.
std::vector<WaferPass> training_passes(const WaferSystemParams& params,
                                       const std::vector<WaferLayer>& layers, unsigned steps);

}  // namespace lacuna::system

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/system/wafer_layers.hpp"

namespace lacuna::system {

std::vector<WaferPass> training_passes(const WaferSystemParams& params,
                                       const std::vector<WaferLayer>& layers, unsigned steps) {
  std::vector<WaferPass> passes;
  std::vector<std::uint32_t> update(layers.size(), WaferPass::kNone);
  for (unsigned step = 0; step < steps; ++step) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const WaferLayer& layer = layers[l];
      passes.push_back(make_wafer_pass(params, layer.name + " forward",
                                       layer.nonzeros * layer.weight_bytes, 0, layer.forward_ns));
      passes.back().waits_for = update[l];
    }
    for (std::size_t l = layers.size(); l-- > 0;) {
      const WaferLayer& layer = layers[l];
      const std::uint64_t down = layer.nonzeros * layer.weight_bytes;
      if (!layer.delta_ns.empty()) {
        passes.push_back(make_wafer_pass(params, layer.name + " delta", down, 0, layer.delta_ns));
      }
      if (layer.gradient_ns.empty()) continue;
      passes.push_back(make_wafer_pass(params, layer.name + " gradient", down,
                                       layer.nonzeros * layer.gradient_bytes, layer.gradient_ns));
      passes.back().parameters = layer.nonzeros;
      if (layer.nonzeros != 0) update[l] = static_cast<std::uint32_t>(passes.size() - 1);
    }
  }
  return passes;
}

}  // namespace lacuna::system

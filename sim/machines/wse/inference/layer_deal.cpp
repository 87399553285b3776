// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/inference/layer_deal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"

namespace lacuna {

std::vector<std::uint32_t> deal_layers(std::uint32_t layers, std::uint32_t blocks,
                                       std::uint32_t most) {
  if (std::uint64_t{most} * blocks < layers) {
    throw UnsupportedError(fmt::format("found {} in each of {}, fewer than {}",
                                       counted(most, "layer"), counted(blocks, "block"), layers));
  }
  std::vector<std::uint32_t> dealt(blocks, most);
  std::uint32_t spare = blocks * most - layers;
  for (std::uint32_t i = 0; spare > 0; i = (i + 1) % blocks) {
    // the last block, the first, the last but one, ...; from the ends half of their layers
    std::uint32_t& of_block = dealt[i % 2 == 0 ? blocks - 1 - i / 2 : i / 2];
    const std::uint32_t less = std::min(spare, (of_block + 1) / 2);
    of_block -= less;
    spare -= less;
  }
  return dealt;
}

}  // namespace lacuna

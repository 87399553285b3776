// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna {

/// Whole layers dealt to blocks, at most `most` to each, as many as there can be in the inner ones.
/// UnsupportedError if that is no room for all.
std::vector<std::uint32_t> deal_layers(std::uint32_t layers, std::uint32_t blocks,
                                       std::uint32_t most);

}  // namespace lacuna

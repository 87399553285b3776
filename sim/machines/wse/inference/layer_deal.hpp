// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lacuna {

/// Whole layers dealt to blocks, at most `most` to each, as many as there can be in the inner ones.
/// UnsupportedError if that is no room for all.
std::vector<std::uint32_t> deal_layers(std::uint32_t layers, std::uint32_t blocks,
                                       std::uint32_t most);

/// Layers that have the same zeros, a block of one of them, and its times.
template <typename Block, typename Times>
struct KindOfLayers {
  std::vector<std::uint32_t> numbers;
  Block block;
  Times times;
};

/// The kind of each of so many layers.
template <typename Kind>
std::vector<const Kind*> by_layer(const std::vector<Kind>& kinds, std::uint32_t layers) {
  std::vector<const Kind*> kind(layers, nullptr);
  for (const Kind& each : kinds) {
    for (const std::uint32_t layer : each.numbers) kind[layer] = &each;
  }
  return kind;
}

/// All blocks have `most` layers and, of each half, the weights of the block that has most of it,
/// as layers are dealt. `weights` gives the bytes of those of a block of one layer.
template <typename Kind, typename Weights>
void share_memory(std::vector<Kind>& kinds, const std::vector<std::uint32_t>& dealt,
                  std::uint32_t most, const Weights& weights) {
  for (Kind& kind : kinds) kind.block.layers = most;
  if (kinds.size() == 1) return;
  const auto of_one = [&](const Kind& kind, bool attention) {
    auto block = kind.block;
    block.layers = 1;
    block.others_attention = block.others_ffn = 0;
    block.attention = attention;
    block.ffn = !attention;
    return static_cast<std::int64_t>(weights(block));
  };
  const std::uint32_t layers = std::accumulate(dealt.begin(), dealt.end(), 0U);
  for (const bool attention : {true, false}) {
    std::vector<std::int64_t> of_layer;
    for (const Kind* kind : by_layer(kinds, layers)) of_layer.push_back(of_one(*kind, attention));
    std::int64_t fullest = 0;
    auto next = of_layer.begin();
    for (const std::uint32_t count : dealt) {
      fullest = std::max(fullest, std::accumulate(next, next + count, std::int64_t{0}));
      next += count;
    }
    for (Kind& kind : kinds) {
      const std::int64_t others = fullest - of_one(kind, attention) * most;
      (attention ? kind.block.others_attention : kind.block.others_ffn) = others;
    }
  }
}

}  // namespace lacuna

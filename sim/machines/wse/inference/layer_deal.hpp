// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
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

/// Bytes of a core for one layer, or half of one.
struct LayerBytes {
  std::uint64_t weights = 0;
  std::uint64_t cache = 0;

  std::uint64_t all() const { return weights + cache; }
};

/// Bytes of a core for a part of one layer of a kind.
template <typename Kind, typename Bytes>
LayerBytes bytes_of_layer(const Kind& kind, bool attention, bool ffn, const Bytes& bytes) {
  auto block = kind.block;
  block.layers = 1;
  block.others_attention = block.others_ffn = 0;
  block.attention = attention;
  block.ffn = ffn;
  return bytes(block);
}

/// The layers of the block whose cores have most of such a part of theirs.
template <typename Kind, typename Bytes>
std::vector<const Kind*> fullest_block(const std::vector<Kind>& kinds,
                                       const std::vector<std::uint32_t>& dealt, bool attention,
                                       bool ffn, const Bytes& bytes) {
  const std::uint32_t layers = std::accumulate(dealt.begin(), dealt.end(), 0U);
  const std::vector<const Kind*> by_number = by_layer(kinds, layers);
  std::vector<const Kind*> held;
  std::uint64_t most = 0;
  auto next = by_number.begin();
  for (const std::uint32_t count : dealt) {
    std::uint64_t sum = 0;
    for (auto i = next; i != next + count; ++i) {
      sum += bytes_of_layer(**i, attention, ffn, bytes).all();
    }
    if (sum > most) {
      most = sum;
      held.assign(next, next + count);
    }
    next += count;
  }
  return held;
}

/// Every block is taken for the one whose cores hold most, as layers are dealt: so many layers, and
/// the weights of these. If halves of layers are `split` over blocks of their own, attention and
/// feed-forward parts each for their own fullest one. `bytes` gives those of a block of one layer.
template <typename Kind, typename Bytes>
void share_memory(std::vector<Kind>& kinds, const std::vector<std::uint32_t>& dealt,
                  std::uint32_t most, bool split, const Bytes& bytes) {
  for (Kind& kind : kinds) kind.block.layers = most;
  if (kinds.size() == 1) return;
  const std::vector<const Kind*> whole = fullest_block(kinds, dealt, true, !split, bytes);
  const auto ffn = split ? fullest_block(kinds, dealt, false, true, bytes) : whole;
  // what the weights of a part of these are beside as many of a kind
  const auto beside = [&](const std::vector<const Kind*>& held, const Kind& kind, bool attention,
                          bool has_ffn) {
    const std::uint64_t one = bytes_of_layer(kind, attention, has_ffn, bytes).weights;
    std::uint64_t sum = 0;
    for (const Kind* const each : held) {
      sum += bytes_of_layer(*each, attention, has_ffn, bytes).weights;
    }
    return static_cast<std::int64_t>(sum) - static_cast<std::int64_t>(whole.size() * one);
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> others;
  others.reserve(kinds.size());
  for (const Kind& kind : kinds) {
    others.emplace_back(beside(whole, kind, true, !split),
                        split ? beside(ffn, kind, false, true) : 0);
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].block.layers = static_cast<std::uint32_t>(whole.size());
    std::tie(kinds[i].block.others_attention, kinds[i].block.others_ffn) = others[i];
  }
}

}  // namespace lacuna

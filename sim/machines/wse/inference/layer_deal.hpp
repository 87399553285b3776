// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/machines/wse/inference/decode_sparsity.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// Columns of cores of head and tail, beside the blocks (EPCC).
inline constexpr std::uint32_t kEndColumns = 128;

/// A model on blocks of cores, all of one size. Each row of blocks holds whole layers in each
/// block, if a core can hold that. Otherwise even blocks hold the attention parts of layers and odd
/// blocks the feed-forward parts.
struct DecodePlacement {
  DecodePlacement() : DecodePlacement(BlockParams()) {}
  explicit DecodePlacement(const BlockParams& given)
      : blocks_x(given.across), blocks_y(given.down), columns(given.columns), rows(given.rows) {}

  std::uint32_t blocks_x;
  std::uint32_t blocks_y;
  std::uint32_t columns;  // of a block
  std::uint32_t rows;
  std::uint32_t layers_per_block = 0;  // whole layers in the fullest block; 0: as few as can be
  std::uint32_t capacity = 0;          // positions of the cache; 0: the context
  std::uint32_t top_k = 20;
  std::uint32_t batch = 1;   // sequences at once
  std::uint32_t stages = 0;  // blocks that there are; 0: blocks_x times blocks_y
  DecodeSparsity sparsity;
  wse::Attention sees;         // beside a window that the model has
  bool experts_apart = false;  // see wse::DecodeBlock

  std::uint32_t blocks() const { return stages != 0 ? stages : blocks_x * blocks_y; }
  /// Blocks of such cores that a wafer has room for, across and down.
  std::pair<std::uint32_t, std::uint32_t> room(const WseParams& params) const;
  /// No more blocks than there is room for, but one.
  void fit(const WseParams& params);
};

/// Bytes of a core of a block.
struct DecodeMemory {
  std::string block;  // what it holds
  std::uint64_t weights = 0;
  std::uint64_t cache = 0;
  std::uint64_t buffers = 0;
  std::uint64_t code = 0;
  std::uint32_t positions = 0;  // of the cache that would fit; kAnyPositions: any
};
inline constexpr std::uint32_t kAnyPositions = 1U << 30U;

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

/// Where the layers of a decoder lie.
template <typename Kind>
struct PlacedKinds {
  bool split = false;                // attention and feed-forward parts in blocks of their own
  std::uint32_t layers = 0;          // in the fullest block
  std::vector<std::uint32_t> dealt;  // of each block, or of each two
  std::vector<Kind> kinds;
  std::vector<DecodeMemory> memory;  // of a block, or of one of each half
  std::string dense_weights;  // matrices with zeros that cores have with these; see dense_names()
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

/// What cores have room for.
template <typename Shape>
class LayerRoom {
 public:
  LayerRoom(const wse::DecoderModel& model, const WseParams& params)
      : model_(model), llm_(params.llm), bytes_(params.core_bytes()) {}

  template <typename Block>
  LayerBytes bytes(const Block& block) const {
    const typename Shape::Space space({model_, block});
    return {space.weight_bytes, space.cache_bytes};
  }

  template <typename Block>
  std::uint32_t positions(Block block, bool attention, bool ffn) const {
    block.attention = attention;
    block.ffn = ffn;
    return positions_that_fit(Shape(model_, block), llm_, bytes_);
  }

  /// Says what the fullest of the cores with this part of a layer have; OutOfMemoryError if one
  /// cannot hold it.
  template <typename Kind>
  void hold(bool attention, bool ffn, const char* what, PlacedKinds<Kind>& placed) const {
    DecodeMemory most;
    for (const Kind& kind : placed.kinds) {
      auto part = kind.block;
      part.attention = attention;
      part.ffn = ffn;
      const Shape shape(model_, part);
      require_memory(shape, llm_, bytes_);
      const typename Shape::Space space(shape);
      if (most.block.empty() ||
          space.weight_bytes + space.buffer_bytes > most.weights + most.buffers) {
        most = {what,
                space.weight_bytes,
                space.cache_bytes,
                space.buffer_bytes,
                part.code_bytes(llm_),
                positions_that_fit(shape, llm_, bytes_)};
      }
    }
    placed.memory.push_back(most);
  }

 private:
  const wse::DecoderModel model_;
  const wse::InferenceParams& llm_;
  const std::uint64_t bytes_;
};

/// Whole layers in each block if a core holds them, else halves.
template <typename Shape, typename Kind>
void place_once(const LayerRoom<Shape>& room, const DecodePlacement& placement,
                PlacedKinds<Kind>& placed) {
  const std::uint32_t blocks = placement.blocks();
  std::uint32_t layers = 0;
  for (const Kind& kind : placed.kinds) layers += static_cast<std::uint32_t>(kind.numbers.size());
  const auto deal = [&](std::uint32_t over) {
    placed.dealt = deal_layers(layers, over, placed.layers);
    placed.memory.clear();
    share_memory(placed.kinds, placed.dealt, placed.layers, placed.split,
                 [&](const auto& block) { return room.bytes(block); });
  };
  const auto& block = placed.kinds.front().block;
  placed.split = false;
  placed.layers = placement.layers_per_block != 0 ? placement.layers_per_block
                                                  : wse::LayerCut::ceil(layers, blocks);
  deal(blocks);
  try {
    room.hold(true, true, "whole layers", placed);
  } catch (const OutOfMemoryError& whole) {
    if ((placement.stages != 0 ? blocks : placement.blocks_x) % 2 != 0) throw;
    const std::uint32_t most = room.positions(block, true, true);
    placed.split = true;
    placed.layers = wse::LayerCut::ceil(layers, blocks / 2);
    deal(blocks / 2);
    try {
      room.hold(true, false, "attention", placed);
      room.hold(false, true, "feed-forward", placed);
    } catch (const OutOfMemoryError&) {
      // of two placements that hold too little, the one that holds more is what is spoken of
      if (room.positions(block, false, true) != 0 && room.positions(block, true, false) > most) {
        throw;
      }
      throw OutOfMemoryError(whole.what());
    }
  }
}

/// Whether cores hold whole layers in each block, or attention and feed-forward parts in blocks of
/// their own; with weights as lists if they do not fit otherwise. `placed` has the kinds of layers,
/// each with its block. OutOfMemoryError if nothing fits.
template <typename Shape, typename Kind>
void place_layers(const wse::DecoderModel& model, const DecodePlacement& placement,
                  const WseParams& params, PlacedKinds<Kind>& placed) {
  const LayerRoom<Shape> room(model, params);
  try {
    place_once(room, placement, placed);
  } catch (const OutOfMemoryError&) {
    if (!list_all(placed.kinds, params.llm)) throw;
    place_once(room, placement, placed);
  }
  placed.dense_weights = dense_names(placed.kinds);
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/wse/inference/decode_shape.hpp"

namespace lacuna::wse {

/// A chunk of a prompt on a square of cores.
struct PrefillBlock {
  std::uint32_t side = 1;
  std::uint32_t tokens = 1;  // of a chunk
  std::uint32_t chunks = 1;  // of which keys and values are kept
  std::uint32_t layers = 1;  // whose weights and keys and values its cores hold
  bool fused = true;         // q, k and v are one product, up and gate another
  bool attention = true;     // parts of layers that its cores have
  bool ffn = true;
};

/// A layer of a prompt cut for the cores of a square: tokens along x, features along y; query heads
/// of a key and value head in the same rows, its band. What does not divide is padded.
class PrefillShape {
 public:
  /// UnsupportedError if a key and value head is no whole number of rows, or a core's part of it
  /// has no whole pairs to rotate.
  PrefillShape(const DecoderModel& model, const PrefillBlock& block);

  const DecoderModel& model() const { return model_; }
  const PrefillBlock& block() const { return block_; }

  std::uint32_t d() const { return ceil(model_.width); }
  std::uint32_t t() const { return ceil(block_.tokens); }
  /// Elements from a feature's tokens to the next one's: of several tokens whole eight bytes, so
  /// that no two rows that are read together lie in the same banks.
  std::uint32_t pitch() const { return t() == 1 ? 1 : (t() + 3) / 4 * 4; }
  std::uint32_t k() const { return DecodeShape::ceil(model_.head_dim, band()); }
  std::uint32_t q() const { return group() * k(); }
  std::uint32_t f() const { return ceil(model_.ffn); }
  std::uint32_t group() const { return model_.heads / model_.kv_heads; }
  std::uint32_t band() const { return block_.side / model_.kv_heads; }
  /// Blocks of keys, one of each column, whose scores a core of the band has in the end.
  std::uint32_t held() const { return DecodeShape::ceil(block_.side, band()); }
  Element sum() const { return model_.wide_sums ? Element::fp32 : Element::fp16; }

 private:
  std::uint32_t ceil(std::uint32_t size) const { return DecodeShape::ceil(size, block_.side); }

  DecoderModel model_;
  PrefillBlock block_;
};

/// Where everything lies in the memory of a core; bytes. What moves has two places, one for what
/// comes next.
struct PrefillSpace {
  explicit PrefillSpace(const PrefillShape& shape);

  std::uint32_t weights[2] = {0, 0};  // a tile: outputs of an input side by side
  std::uint32_t tile[2] = {0, 0};     // the other operand: tokens of a feature side by side
  std::uint32_t keys[2] = {0, 0};     // a block of keys, or of values, on its way
  std::uint32_t held[2] = {0, 0};     // probabilities on their way
  std::uint32_t x = 0, z = 0;         // the hidden vectors, and normalised
  std::uint32_t gain = 0, head_gain = 0;
  std::uint32_t stats = 0, stats16 = 0;  // (G + 1) t, three of them
  std::uint32_t out = 0;                 // sums of the widest product
  std::uint32_t qkv16 = 0;
  std::uint32_t cos = 0, sin = 0, rotated = 0;
  std::uint32_t partial = 0;  // scores on their way to where they are kept
  std::uint32_t scores = 0, mask = 0, work = 0;
  std::uint32_t context = 0, folded = 0;  // of a chunk of keys, and of those so far
  std::uint32_t silu = 0;

  std::uint64_t weight_bytes = 0;  // of all layers
  std::uint64_t cache_bytes = 0;
  std::uint64_t buffer_bytes = 0;
};

/// OutOfMemoryError with the bytes of each part if a core cannot hold it.
void require_prefill_memory(const PrefillShape& shape, const InferenceParams& params,
                            std::uint64_t bytes);

}  // namespace lacuna::wse

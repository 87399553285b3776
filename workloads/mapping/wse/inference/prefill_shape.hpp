// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "workloads/mapping/wse/inference/decode_shape.hpp"

namespace lacuna::wse {

/// A chunk of a prompt on a block of cores.
struct PrefillBlock : LayerBlock {
  std::uint32_t tokens = 1;  // of a chunk
  std::uint32_t chunks = 1;  // of which keys and values are kept
  bool fused = true;         // q, k and v are one product, up and gate another; with zeros they are
};

/// Which piece of a product's inputs: that of a row of cores, one of its tile_pieces().
struct InputPiece {
  std::uint32_t row = 0;
  std::uint32_t number = 0;
};

struct PrefillSpace;

/// A layer of a prompt cut for the cores of a block: tokens along x, features along y; query heads
/// of a key and value head in the same rows, its band. What does not divide is padded.
///
/// The inputs of a product are cut into as many pieces as it has steps, one for each core of the
/// longer side. A core of the shorter side has several of them: of activations if the block is
/// wide, of weights if it is high.
class PrefillShape : public LayerCut {
 public:
  using Space = PrefillSpace;

  /// UnsupportedError if one side is no multiple of the other, or a key and value head is no whole
  /// number of rows. Also if a core's part of a head has no whole pairs to rotate or no whole
  /// pieces, or if all keys of a chunk would be padding.
  PrefillShape(const DecoderModel& model, const PrefillBlock& block);

  const PrefillBlock& block() const { return block_; }

  /// Steps of a product with weights.
  std::uint32_t steps() const { return std::max(block_.columns, block_.rows); }
  /// Pieces of inputs that a core has of activations, and of weights.
  std::uint32_t tile_pieces() const { return steps() / block_.rows; }
  std::uint32_t weight_pieces() const { return steps() / block_.columns; }

  std::uint32_t t() const { return ceil(block_.tokens, block_.columns); }
  /// Elements from a feature's tokens to the next one's: of several tokens whole eight bytes, so
  /// that no two rows that are read together lie in the same banks.
  std::uint32_t pitch() const { return t() == 1 ? 1 : (t() + 3) / 4 * 4; }
  /// Gated blocks of a layer.
  std::uint32_t experts() const { return std::max(1U, model().experts.count); }
  /// Blocks of keys, one of each column, whose scores a core of the band has in the end.
  std::uint32_t held() const { return ceil(block_.columns, band()); }

  /// Inputs of a row of cores of a product, and outputs, q, k and v or up and gate one behind the
  /// other.
  std::uint32_t inputs(Projection what) const {
    return what == Projection::o ? q() : what == Projection::down ? f() : d();
  }
  std::uint32_t outputs(Projection what) const {
    return what == Projection::qkv ? q() + 2 * k() : LayerCut::outputs(matrix_of(what));
  }
  /// What a row of cores multiplies in one step.
  TileFeatures tile(Projection what, std::uint32_t row, const InputPiece& piece) const;
  /// Halves of the weights of such a tile, as they are stored.
  std::uint64_t tile_halves(Projection what) const;
  Matrix stored_with(Matrix matrix) const override { return matrix_of(projection_of(matrix)); }
  bool any_tile(Matrix matrix, const TileTest& is) const override;
  /// Zeros that this product has a program for; null if none is left out.
  const DecodeZeros* zeros_of(Projection what) const;

 private:
  std::uint32_t piecewise(std::uint32_t size) const { return tile_pieces() * ceil(size, steps()); }

  PrefillBlock block_;
};

/// Where everything lies in the memory of a core; bytes. The weights, keys and values are those of
/// one layer. What moves has two places, one for what comes next.
struct PrefillSpace {
  explicit PrefillSpace(const PrefillShape& shape);

  // weights of products: pieces one behind the other, of each the outputs of an input side by side;
  // not fused: q, then k, then v; up, then gate; of each expert behind each other
  std::uint32_t wqkv = 0, wo = 0, wup = 0, wdown = 0;
  std::uint32_t up_bytes = 0, down_bytes = 0;  // of an expert
  std::uint32_t wrouter = 0;                   // of all experts of an input side by side
  std::uint32_t gain = 0, ffn_gain = 0;        // of the norms
  std::uint32_t k_bank = 0, v_bank = 0;        // of each chunk
  std::uint32_t bank_bytes = 0;                // of one

  std::uint32_t incoming = 0;  // a tile of weights; theirs are the other place
  using Two = std::array<std::uint32_t, 2>;
  Two tile{};                  // the other operand: tokens of a feature side by side
  Two keys{};                  // a block of keys, or of values, on its way
  Two held{};                  // probabilities on their way
  std::uint32_t x = 0, z = 0;  // the hidden vectors; what is added to them
  std::uint32_t q_gain = 0, k_gain = 0;
  std::uint32_t stats = 0, stats16 = 0;  // of each head and token, G + 1 of them
  std::uint32_t maxima = 0;              // of these, those so far, and those of a chunk of keys
  std::uint32_t sums = 0;                // of weights, likewise
  std::uint32_t both = 0, scaled = 0;    // the new maximum; what either is to be multiplied with
  std::uint32_t out = 0;                 // sums of the widest product
  std::uint32_t qkv16 = 0;
  std::uint32_t cos = 0, sin = 0, rotated = 0;
  std::uint32_t partial = 0;                     // scores on their way to where they are kept
  std::uint32_t scores = 0, mask = 0, work = 0;  // by head, block of keys, key and token
  std::uint32_t context = 0, folded = 0;         // of a chunk of keys, and of those so far
  std::uint32_t silu = 0;
  std::uint32_t logits = 0, mark = 0, shares = 0;  // of experts, by expert and token
  std::uint32_t best = 0, weight = 0;              // of the chosen ones

  std::uint64_t weight_bytes = 0;  // of all layers
  std::uint64_t cache_bytes = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t image_bytes = 0;  // of one layer and the buffers, from address 0 on
};

/// OutOfMemoryError with the bytes of each part if a core cannot hold it.
void require_memory(const PrefillShape& shape, const InferenceParams& params, std::uint64_t bytes);

/// Of a prompt none is known; halves of layers have more room than whole ones.
inline std::uint32_t positions_that_fit(const PrefillShape& shape,
                                        const InferenceParams& /*params*/,
                                        std::uint64_t /*bytes*/) {
  return shape.block().attention && shape.block().ffn ? 0 : 1;
}

}  // namespace lacuna::wse

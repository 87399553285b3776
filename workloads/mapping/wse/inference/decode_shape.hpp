// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/inference/params.hpp"
#include "workloads/mapping/wse/layers/code.hpp"

namespace lacuna::wse {

/// A layer of a decoder: sizes as the model has them.
struct DecoderModel {
  std::uint32_t width = 0;  // d
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t ffn = 0;
  bool qk_norm = false;   // of each head, before rotation
  bool wide_sums = true;  // products of halves add up in single precision
};

/// What a block of cores does in a run.
struct DecodeBlock {
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
  std::uint32_t context = 1;   // positions, the one being decoded included
  std::uint32_t layers = 1;    // whose weights and cache its cores hold
  std::uint32_t capacity = 0;  // positions that the cache has room for; 0: the context
  bool attention = true;
  bool ffn = true;
  bool receives = false;      // the hidden vector comes from the west, each row's to its first core
  std::uint32_t repeats = 1;  // layers run, one after the other without a barrier
  std::uint32_t batch = 1;    // sequences at once, all at the same position
};

/// A decode layer cut for the cores of a block: hidden vector, cached positions and inputs of the
/// first products along y, heads and inner width along x. What does not divide is padded.
class DecodeShape {
 public:
  /// UnsupportedError if a key and value head is no whole number of columns, or a core's part of
  /// it has no whole pairs to rotate.
  DecodeShape(const DecoderModel& model, const DecodeBlock& block);

  const DecoderModel& model() const { return model_; }
  const DecodeBlock& block() const { return block_; }

  std::uint32_t d() const { return ceil(model_.width, block_.rows); }
  /// Features of one head in a core, of the columns of one key and value head.
  std::uint32_t k() const { return ceil(model_.head_dim, band()); }
  std::uint32_t q() const { return group() * k(); }
  std::uint32_t f() const { return ceil(model_.ffn, block_.columns); }
  /// Query heads of a key and value head.
  std::uint32_t group() const { return model_.heads / model_.kv_heads; }
  std::uint32_t band() const { return block_.columns / model_.kv_heads; }
  /// Positions of which a core has room for the cache.
  std::uint32_t slots() const;
  /// Position p lies in row p mod rows.
  std::uint32_t live(std::uint32_t row) const {
    return row < block_.context ? (block_.context - row - 1) / block_.rows + 1 : 0;
  }
  /// The row that keeps the position being decoded.
  std::uint32_t writer() const { return (block_.context - 1) % block_.rows; }

  static std::uint32_t ceil(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

 private:
  DecoderModel model_;
  DecodeBlock block_;
};

/// Where everything lies in the memory of a core; bytes. The weights are those of one layer: others
/// lie behind and take as much.
struct DecodeSpace {
  explicit DecodeSpace(const DecodeShape& shape);

  // weights, input by input, the outputs of an input side by side
  std::uint32_t wq = 0, wk = 0, wv = 0, wo = 0;
  std::uint32_t wup = 0;  // up, then gate, of each input
  std::uint32_t wdown = 0;
  std::uint32_t gain = 0, ffn_gain = 0;    // of the norms, d
  std::uint32_t q_gain = 0, k_gain = 0;    // of the norms of heads, single precision
  std::uint32_t k_cache = 0, v_cache = 0;  // by feature and position; by position and feature
  // buffers
  std::uint32_t x = 0, z = 0;  // the hidden vector, and normalised
  std::uint32_t stats = 0;     // sums of squares, maxima, sums: G + 1 numbers
  std::uint32_t stats16 = 0;
  std::uint32_t qkv = 0, qkv16 = 0;  // q, then k, then v
  std::uint32_t cos = 0, sin = 0;    // of the current position, q / 2
  std::uint32_t rotated = 0;         // four products, q / 2 each
  std::uint32_t scores = 0, probabilities = 0;
  std::uint32_t work = 0;                    // of the exponential
  std::uint32_t context = 0, context16 = 0;  // of values
  std::uint32_t out = 0, out16 = 0;          // of the last product of a part
  std::uint32_t inner = 0, inner16 = 0;      // up, gate
  std::uint32_t silu = 0;                    // three work arrays of f

  // of the first of several sequences; the others' lie behind, array by array

  std::uint64_t weight_bytes = 0;  // of all layers
  std::uint64_t cache_bytes = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t image_bytes = 0;  // of one layer and the buffers, from address 0 on

  std::uint64_t code_bytes(const DecodeShape& shape, const InferenceParams& params) const;
};

/// OutOfMemoryError with the bytes of each part if a core cannot hold it, and with the number of
/// positions that it could.
void require_decode_memory(const DecodeShape& shape, const InferenceParams& params,
                           std::uint64_t bytes);

}  // namespace lacuna::wse

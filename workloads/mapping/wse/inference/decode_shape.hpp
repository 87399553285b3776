// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/wse/inference/layer_cut.hpp"

namespace lacuna::wse {

/// Which positions a token sees.
struct Attention {
  std::uint32_t window = 0;  // the last so many, itself one; 0: all
  std::uint32_t kept = 0;    // itself and, of the earlier ones, so many less one that are left,
                             // drawn; 0: all
  std::uint64_t seed = 1;    // of what is kept
};

/// What a block of cores does in a run.
struct DecodeBlock : LayerBlock {
  std::uint32_t context = 1;   // positions, the one being decoded included
  std::uint32_t capacity = 0;  // positions that the cache has room for; 0: the context
  // exponentials of a head that a core takes at least, if neither the capacity nor a window says
  // how many positions it can get
  std::uint32_t exponentials = 0;
  bool receives = false;      // the hidden vector comes from the west, each row's to its first core
  std::uint32_t repeats = 1;  // layers run, one after the other without a barrier
  std::uint32_t batch = 1;    // sequences at once, all at the same position
  Attention sees;
  bool experts_apart = false;         // each in columns of its own; else each over all of them
  std::vector<std::uint32_t> routes;  // experts of each sequence, the best first; empty: 0, 1, ...
};

/// Where a core's tile lies in its matrix. Rows and columns of the cores of a block.
struct TilePlace {
  Matrix matrix = Matrix::q;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

struct DecodeSpace;

/// A decode layer cut for the cores of a block: hidden vector, cached positions and inputs of the
/// first products along y, heads and inner width along x.
class DecodeShape : public LayerCut {
 public:
  using Space = DecodeSpace;

  /// UnsupportedError if a key and value head is no whole number of columns, or a core's part of
  /// it has no whole pairs to rotate.
  DecodeShape(const DecoderModel& model, const DecodeBlock& block);

  const DecodeBlock& block() const { return block_; }

  /// Columns over which an inner width lies: all, or those of an expert that has its own.
  std::uint32_t expert_columns() const {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the constructor refuses this without experts
    return block_.experts_apart ? block_.columns / model().experts.count : block_.columns;
  }
  /// Experts of which a core has weights.
  std::uint32_t experts_here() const { return block_.experts_apart ? 1 : model().experts.count; }
  /// The expert that a sequence takes as number `choice`.
  std::uint32_t route(std::uint32_t sequence, std::uint32_t choice) const;
  /// Positions of which a core has room for the cache.
  std::uint32_t slots() const;
  /// Exponentials of a head that a core takes, of empty places too.
  std::uint32_t exponentials() const;
  /// Positions that are seen in a row; position p lies in row p mod rows.
  std::uint32_t live(std::uint32_t row) const;
  /// Those of a row, in their order.
  std::vector<std::uint32_t> positions(std::uint32_t row) const;
  /// The row that keeps the position being decoded.
  std::uint32_t writer() const { return (block_.context - 1) % block_.rows; }

  /// Inputs of a core's tile of a matrix, and its features.
  std::uint32_t inputs(Matrix matrix) const {
    return matrix == Matrix::o ? q() : matrix == Matrix::down ? f() : d();
  }
  TileFeatures tile(const TilePlace& place) const;
  bool any_tile(Matrix matrix, const TileTest& is) const override;

 private:
  void check_experts() const;

  DecodeBlock block_;
  std::vector<std::vector<std::uint32_t>> kept_;  // positions of each row; with sees.kept
};

/// Where everything lies in the memory of a core; bytes. The weights are those of one layer: others
/// lie behind and take as much.
struct DecodeSpace {
  explicit DecodeSpace(const DecodeShape& shape);

  // weights, input by input, the outputs of an input side by side
  std::uint32_t wq = 0, wk = 0, wv = 0, wo = 0;
  std::uint32_t wup = 0;  // up, then gate, of each input
  std::uint32_t wdown = 0;
  std::uint32_t wrouter = 0;                   // logits of all experts of an input side by side
  std::uint64_t up_bytes = 0, down_bytes = 0;  // of an expert
  std::uint32_t gain = 0, ffn_gain = 0;        // of the norms, d
  std::uint32_t q_gain = 0, k_gain = 0;        // of the norms of heads, single precision
  std::uint32_t k_cache = 0, v_cache = 0;      // by feature and position; by position and feature
  // buffers
  std::uint32_t x = 0, z = 0;  // the hidden vector, and normalised
  std::uint32_t list = 0;      // the hidden vector as it travels without zeros
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
  std::uint32_t logits = 0, mark = 0;        // of experts; which one is the largest
  std::uint32_t numbers = 0;                 // of the experts
  std::uint32_t best = 0, chosen = 0;        // of a token: the largest logits, whose they are
  std::uint32_t shares = 0;                  // the softmax of the former

  // of the first of several sequences; the others' lie behind, array by array

  std::uint64_t weight_bytes = 0;  // of all layers
  std::uint64_t cache_bytes = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t image_bytes = 0;  // of one layer and the buffers, from address 0 on
};

/// Bytes of a core that all of it takes.
std::uint64_t decode_bytes(const DecodeShape& shape, const InferenceParams& params);

/// The largest context whose cache a core of `bytes` has room for; 0: not even one position.
std::uint32_t positions_that_fit(const DecodeShape& shape, const InferenceParams& params,
                                 std::uint64_t bytes);

/// OutOfMemoryError with the bytes of each part if a core cannot hold it, and with the number of
/// positions that it could.
void require_memory(const DecodeShape& shape, const InferenceParams& params, std::uint64_t bytes);

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/mapping/wse/inference/decode_layer.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::wse {

/// Neighbouring rows of a trace that are one layer of a decoder, a token of each sequence: what a
/// program of DecodeLayer computes.
struct DecodeRows {
  /// A row, and the phases of the program that are its own. Rows of the same phases share their
  /// time by `work`.
  struct Row {
    std::size_t number = 0;  // in the trace
    DecodePhase first{};
    DecodePhase last{};
    std::uint64_t work = 0;
  };

  DecoderModel model;
  std::uint32_t context = 0;  // positions that a token sees
  std::uint32_t batch = 1;    // sequences
  std::vector<Row> rows;      // in their order: attention, then the feed-forward part

  /// The row of the first product of a matrix: that of q, k, v, o, up, gate or down.
  enum class Product : std::uint8_t { q, k, v, o, gate, up, down };
  std::size_t product(Product which) const { return products[static_cast<std::size_t>(which)]; }
  std::array<std::size_t, 7> products{};
};

/// All layers of decoders in `trace`: norm, products, norms of heads and rotation, scores, softmax,
/// values, product, sum; norm, gated unit, sum, in this order and of these dependencies, in fp16
/// with sums of single precision, dense but for operands of products with weights.
std::vector<DecodeRows> find_decode_rows(const WorkloadTrace& trace);

}  // namespace lacuna::wse

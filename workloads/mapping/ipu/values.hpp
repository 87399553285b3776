// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/ipu/tile_memory.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::ipu {

// What vertices compute, apart from time. Addresses count elements of the operand's type from the
// beginning of the tile's memory. Sums are formed in float and rounded where the codelet stores, by
// the tile's rounding; each worker rounds the elements that the codelet deals to it.

/// Reads and writes one element of type fp8, fp16 or fp32.
float read_element(const TileMemory& memory, DType type, std::uint64_t index);
void write_element(TileMemory& memory, DType type, std::uint64_t index, float value);

/// Packs numbers into memory words, halves two and bytes four to a word.
std::vector<std::uint32_t> pack_words(const std::vector<float>& values, DType type);

/// The sparse product of one tile. Block i has its values (row-major) at nonzeros + i * block^2. It
/// adds to slot rows[i] of the partials and meets slot columns[i] of the dense operand. Slots are
/// {columns, block} matrices.
struct SparseProduct {
  DType type = DType::fp16;
  DType partial_type = DType::fp16;
  bool accumulate = false;  // on partials that are there, instead of starting sums anew
  std::uint32_t block = 1;
  std::uint64_t width = 0;  // columns of the dense operand
  std::uint64_t nonzeros = 0;
  std::uint64_t dense = 0;
  std::uint64_t partials = 0;
  std::vector<std::uint32_t> rows;  // ascending
  std::vector<std::uint32_t> columns;

  void operator()(TileMemory& memory) const;

 private:
  void multiply_elements(TileMemory& memory) const;
  void multiply_blocks(TileMemory& memory) const;

  /// The row of non-zeros [begin, end).
  void sum_row(TileMemory& memory, std::size_t begin, std::size_t end) const;
};

/// A dense product of one tile: input {field, in}, weights {out, in}, partials {field, out}.
struct DenseProduct {
  DType type = DType::fp16;
  DType partial_type = DType::fp16;
  std::uint64_t field = 0;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t group = 16;  // inputs that are summed before the partials are rounded
  std::uint64_t input = 0;
  std::uint64_t weights = 0;
  std::uint64_t partials = 0;

  void operator()(TileMemory& memory) const;
};

/// Sums of partials, element by element: source s of a sum begins at sources[s].
struct Reduction {
  DType partial_type = DType::fp16;
  DType type = DType::fp16;
  std::uint64_t elements = 0;
  std::uint64_t output = 0;
  std::vector<std::uint64_t> sources;

  void operator()(TileMemory& memory) const;
};

/// Transposes `count` blocks in place, each row-major from element `first` on.
struct BlockTranspose {
  DType type = DType::fp16;
  std::uint64_t block = 1;
  std::uint64_t count = 0;
  std::uint64_t first = 0;

  void operator()(TileMemory& memory) const;
};

/// Copies of words within a tile.
struct LocalCopy {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t words = 0;

  void operator()(TileMemory& memory) const;
};

}  // namespace lacuna::ipu

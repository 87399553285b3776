// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/wse/inference/core_code.hpp"
#include "workloads/mapping/wse/inference/decode_shape.hpp"

namespace lacuna::wse {

// What a token passes beside the blocks of layers; programs without values.

/// A core of the last column of a block sends its part of the hidden vector, halves, to its
/// neighbour in the first column of the next.
TaskProgram plan_hand_over(std::uint32_t elements, const CodeCosts& costs,
                           const InferenceParams& params);

/// From one row of blocks to the next: a line of cores, each of which sends its part of the hidden
/// vector on, and then those of the cores behind it as they come.
TaskProgram plan_pipe(std::uint32_t cores, std::uint32_t elements, const CodeCosts& costs,
                      const InferenceParams& params);

/// The embedding of a token: the core of a column that holds its row sends `elements` down the
/// column and, from there, `columns` to the east.
TaskProgram plan_head(std::uint32_t columns, std::uint32_t rows, std::uint32_t elements,
                      const CodeCosts& costs, const InferenceParams& params);

/// Final norm, product with the vocabulary, and the choice of a token on a block of its own: hidden
/// vector along y, vocabulary along x.
struct DecodeTail {
  std::uint32_t columns = 128;
  std::uint32_t rows = 256;
  std::uint32_t width = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t top_k = 1;

  std::uint32_t d() const { return DecodeShape::ceil(width, rows); }
  std::uint32_t logits() const { return DecodeShape::ceil(vocabulary, columns); }
  std::uint64_t bytes() const;  // of a core, without code
};

/// One column of it, up to the logits in the core of the roots: columns do the same, without
/// traffic between them.
TaskProgram plan_tail_column(const DecodeTail& tail, const CodeCosts& costs,
                             const InferenceParams& params);

/// The row of these cores: each finds the largest of its logits, and the lists are merged along x.
TaskProgram plan_tail_row(const DecodeTail& tail, const CodeCosts& costs,
                          const InferenceParams& params);

}  // namespace lacuna::wse

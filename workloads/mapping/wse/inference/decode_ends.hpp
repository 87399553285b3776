// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/inference/decode_shape.hpp"

namespace lacuna::wse {

// What a token passes beside the blocks of layers; programs without values.

/// A core's part of the hidden vector on its way: halves or, with `counted`, a word that says how
/// many are not zero and then, if that is shorter, a word of index and value for each of these.
struct HiddenPart {
  std::uint32_t elements = 0;
  bool counted = false;
  std::uint32_t nonzeros = 0;

  std::uint32_t words() const { return (elements + 1) / 2; }
  bool listed() const { return counted && nonzeros < words(); }
};
/// That of the cores of a row, of all sequences.
HiddenPart hidden_part(const DecodeShape& shape, std::uint32_t row);
/// That of the row that has the most.
HiddenPart fullest_part(const DecodeShape& shape);
/// Makes the list, in a scalar loop over the elements; nothing unless it is counted.
void write_compaction(CoreCode& code, const HiddenPart& part);
/// Puts the elements of a list into their places, the others zero.
void write_expansion(CoreCode& code, const HiddenPart& part, std::uint32_t to);
/// Moves it from or to the fabric: `list` has the words, `x` the halves.
void write_part(CoreCode& code, const HiddenPart& part, Color color, std::uint8_t slot, bool sends,
                std::uint32_t list, std::uint32_t x);

/// A core of the last column of a block sends its part of the hidden vector, halves, to its
/// neighbour in the first column of the next.
TaskProgram plan_hand_over(const HiddenPart& part, const CodeCosts& costs,
                           const InferenceParams& params);

/// From one row of blocks to the next: a line of cores, each of which sends its part of the hidden
/// vector on, and then those of the cores behind it as they come.
TaskProgram plan_pipe(std::uint32_t cores, const HiddenPart& part, const CodeCosts& costs,
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

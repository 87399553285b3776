// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/mapping/ipu/homes.hpp"

namespace lacuna::ipu {

/// Rows [place, place + rows) of the right operand of a product are rows of the result of another,
/// from row `first` on.
struct MovedRows {
  std::shared_ptr<const ProductHomes> from;
  std::uint32_t place = 0;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
};

/// The right operand of a product, some rows of which are where other products have left them.
struct MovedOperand {
  std::shared_ptr<const ProductHomes> to;
  std::uint32_t columns = 0;
  std::vector<MovedRows> rows;
};

/// Puts before a planned product what brings its operand to where it takes it: what a tile has for
/// another is put in a row, unless it lies so or in pieces of 16 words and more, sent, and put in
/// its places there, likewise; whole words are copied, other elements one by one. (The vendor's
/// compiler does such rearrangements; how is not known: inferred, confidence L.) The words that a
/// product with values has at home come from there. OutOfMemoryError if operand, result and what is
/// sent have no room on a tile.
void move_operand_first(const ChipParams& chip, const Target& target, const MovedOperand& operand,
                        PlannedOperation& planned);

/// The title of the note that says how much is moved, if anything is.
inline constexpr const char* kOperandMoves = "operand moves";

/// The same by itself; its program is empty if nothing moves.
PlannedOperation plan_operand_move(const ChipParams& chip, const Target& target,
                                   const MovedOperand& operand);

}  // namespace lacuna::ipu

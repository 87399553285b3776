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

/// Puts the moves of an operand before a planned product that wants it elsewhere. What a tile
/// has for another is put in a row, sent, and put in its places there. A row is not needed
/// for what lies so, or in pieces of 16 words and more. Whole words are copied, other
/// elements one by one. (The vendor's compiler does such rearrangements; how is inferred,
/// confidence L.) A product with values takes its words from there. OutOfMemoryError if a
/// tile lacks the room.
void move_operand_first(const ChipParams& chip, const Target& target, const MovedOperand& operand,
                        PlannedOperation& planned);

/// The title of the note that says how much is moved, if anything is.
inline constexpr const char* kOperandMoves = "operand moves";

/// The same by itself; its program is empty if nothing moves.
PlannedOperation plan_operand_move(const ChipParams& chip, const Target& target,
                                   const MovedOperand& operand);

}  // namespace lacuna::ipu

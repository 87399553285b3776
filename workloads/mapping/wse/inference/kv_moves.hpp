// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/mapping/wse/core_code.hpp"

namespace lacuna::wse {

/// Keys and values that a row of cores gets from its end, tensor by tensor: a core keeps the last
/// piece of what it takes and sends the others on, one after the other, before it takes the next.
/// Two colors by parity. The way out is the same backwards: a core sends its own, then passes on.
struct RowFill {
  std::uint32_t cores = 1;
  std::uint32_t tensors = 1;
  std::uint32_t halves = 1;  // of a core's piece of a tensor
  bool outwards = false;
  std::uint32_t block = 0;  // not 0: blocks of so many cores by turns pass all on and keep theirs
  // Every piece of every tensor has a place of its own, also in the core at the end, where the
  // stream would be: for values. Else a tensor lies where the one before has been.
  bool whole = false;

  bool keeps(std::uint32_t core) const { return block == 0 || core / block % 2 == 1; }
  /// Pieces that a core passes on: those of the cores behind it.
  std::uint32_t passes(std::uint32_t core) const;
};

/// Where a core has what it passes on, and its own.
struct RowFillSpace {
  explicit RowFillSpace(const RowFill& job);

  /// Of the core at the end of the row: the piece that is for, or from, the `piece`-th core that
  /// keeps its own, nearest first. Of another: its own (0).
  std::uint32_t at(std::uint32_t tensor, std::uint32_t piece) const;

  std::uint32_t passing = 0;
  std::uint32_t bytes = 0;

 private:
  std::uint32_t first_ = 0;
  std::uint32_t of_piece_ = 0;  // 0: all in one place
  std::uint32_t of_tensor_ = 0;
};

TaskProgram plan_row_fill(const RowFill& job, const CodeCosts& costs,
                          const InferenceParams& params);

}  // namespace lacuna::wse

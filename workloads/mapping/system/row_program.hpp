// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/params.hpp"
#include "models/system/program.hpp"
#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::system {

/// What a chip does a row for: rows that are done again before the backward pass are recomputed.
Use use_of(const LayerOp& op);

/// True if the row is done by several chips together.
bool is_collective(const LayerOp& op);

/// True if the row is no work of a chip: a collective, or a transfer from or to the host (`io`).
bool is_between(const LayerOp& op);

/// True if the row is a collective whose ranks are chips (`between=chips`), whatever runs it.
bool is_between_chips(const LayerOp& op);

/// UnsupportedError if the collective has another number of ranks than `chips`, which `word` sets.
void check_ranks(const LayerOp& op, unsigned chips, const char* word);

/// Bytes of the whole vector of a collective, or of what a row moves to or from the host; of a
/// vector with a pattern its kept numbers, a part of all, as both ends know their places.
std::uint64_t bytes_moved(const LayerOp& op, double kept = 1);

/// Bytes of the indices, of 32 bits, that the look-ups of one chip take: forward rows of embed.
std::uint64_t index_bytes(const std::vector<LayerOp>& rows);

/// Chips that each do the same rows.
struct RowLoop {
  unsigned chips = 1;
  std::uint64_t times = 1;  // that the rows are done
  double clock_ghz = 1;
  std::uint64_t code_bytes = 0;  // of a chip
  std::uint64_t buffer_bytes = 0;
};

/// The program of a trace whose rows are those of each chip of a loop. Rows of one chip take the
/// time of their cost; collectives are exchanged by all chips. Their m x n elements are the whole
/// vector; in an alltoall what each chip sends in all. The first chip has a broadcast's and gets
/// a reduce's. UnsupportedError names those that do not say who takes part. `costs` has an entry
/// for each row, of all its repeats, empty for collectives. Each time begins with the indices of
/// its look-ups, from the host, and ends with one number to it, the loss.
Program row_program(const SystemParams& params, const std::vector<LayerOp>& rows,
                    const std::vector<ChipCost>& costs, const RowLoop& loop);

/// The same without what moves, for the memory of a chip alone. It keeps every matrix of its rows,
/// what an optimizer has of them, what the backward pass needs of a micro-batch, and beside that
/// the most that is there at once. A head that shares a table has none of its own.
Program row_entries(const std::vector<LayerOp>& rows, const RowLoop& loop);

}  // namespace lacuna::system

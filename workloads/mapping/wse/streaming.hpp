// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"
#include "workloads/mapping/wse/streaming_job.hpp"

namespace lacuna::wse {

/// What the planner needs to know of the machine.
struct StreamingSetup {
  WaferParams wafer;
  CoreParams core;
  QueueParams queue;
  MemoryParams mem;
  SimdParams simd;
  StreamingParams ws;
  IoParams io;
  MapParams map;
  double clock_ghz = 0.85;
  ResidentParams resident;
  ZeroFilterParams zero_filter = {};
};

/// A weight-streaming product on a wafer, and how it was distributed.
struct StreamingPlan {
  Program program;
  std::uint32_t rows_off = 0;       // rows of the rectangle without tokens
  std::uint32_t most_features = 0;  // input features of a column, at most
  std::uint32_t most_outputs = 0;   // output features of a column, at most
  std::uint64_t bytes = 0;          // of the fullest core
  std::uint64_t limit = 0;          // of its memory
  std::uint32_t fullest_column = 0;
  std::uint64_t weights = 0;   // that are streamed (resident: activations)
  std::uint64_t useful = 0;    // products whose operands are not zero, of all tokens
  std::uint64_t tested = 0;    // elements the sender compared with zero
  std::uint64_t left_out = 0;  // and left out
  std::vector<std::uint64_t> column_weights;
  std::vector<std::uint32_t> column_features;  // of the streamed operand, kept in it or not
  std::vector<std::uint32_t> row_of_step;  // output feature of each step and group, or kNoRow
  std::uint32_t empty_rows = 0;            // of groups that have fewer rows than others
  double io_share = 0;
  std::uint32_t tree_block = 0;  // columns of each tree of the reduction, if there are several
};

/// Which column owns each of `features` features on `columns` columns; `load` (their non-zeros)
/// decides for `balanced` only: heaviest first, each to the column with the least.
std::vector<std::uint32_t> assign_features(KPartition kind, std::uint32_t features,
                                           std::uint32_t columns,
                                           const std::vector<std::uint64_t>& load);

/// The row of cores, of `rows` with tokens, where words enter.
inline std::uint32_t entry_row(Inject inject, std::uint32_t rows) {
  return inject == Inject::middle_row ? rows / 2 : 0;
}

/// The first rows of cores that bring words from the west edge to their columns and hold no
/// tokens; none unless they enter there. UnsupportedError if they need more colors than there are.
std::uint32_t rows_at_edge(const StreamingParams& ws, const IoParams& io, std::uint32_t columns);

/// Colors of the reduction along a row.
std::uint32_t reduction_colors(Reduce kind, std::uint32_t columns);

/// Tokens of each of `rows` rows of cores, without those that have none. The rows next to where
/// words enter take one more if they do not divide.
std::vector<std::uint32_t> deal_tokens(Inject inject, std::uint32_t rows, std::uint32_t tokens);

/// The rows of the weights in the order in which they are streamed; `owner` is the column of each.
std::vector<std::uint32_t> order_rows(RowOrder order, const std::vector<std::uint32_t>& owner,
                                      std::uint32_t columns);

/// Words per cycle that `io` gives to `columns` columns.
Rate io_rate(const IoParams& io, const WaferParams& wafer, double clock_ghz);

/// Words of the FIFO that a row-ordered stream fills for each column; 0: columns have streams.
inline std::uint32_t column_fifo(const IoParams& io) {
  return io.stream == IoStream::row_ordered ? io.column_fifo.value() : 0;
}

/// What a job needs of the fullest core's memory, whether it has as much or not.
struct StreamingNeed {
  std::uint64_t weights = 0;  // bytes of resident weights; 0 if they are streamed
  std::uint64_t all = 0;      // bytes, these and StreamingJob::beside included
  std::uint64_t limit = 0;
};
StreamingNeed streaming_need(const StreamingJob& job, const StreamingSetup& setup);

/// Cycles that no run of the job can be below, in whichever form it is streamed: the words that
/// have to enter at the I/O rate, and the issue slots of the busiest core as far as they are known.
Cycle least_cycles(const StreamingJob& job, const StreamingSetup& setup);

/// Lowers Y = W X to a program: columns hold features, rows hold tokens, non-zero weights are
/// streamed down the columns. With `resident`, columns hold input features and rows output
/// features of W, and the non-zeros of X are streamed, a token after the other.
/// OutOfMemoryError, with the bytes, if a core cannot hold its part.
StreamingPlan plan_streaming(const StreamingJob& job, const StreamingSetup& setup);

/// The product of a job in exact integers, by output of each step and element: the third opinion.
std::vector<std::int64_t> exact_product(const StreamingJob& job);

/// The product as the cores compute it: its types, and the order of additions of the machine. By
/// core, row-major, as WaferOutcome::results.
std::vector<std::vector<float>> streaming_reference(const Program& program);

}  // namespace lacuna::wse

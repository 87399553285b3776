// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/program/program.hpp"
#include "sim/base/cycle.hpp"
#include "workloads/mapping/wse/feature_shares.hpp"
#include "workloads/mapping/wse/group_use.hpp"
#include "workloads/mapping/wse/streaming_job.hpp"
#include "workloads/mapping/wse/streaming_setup.hpp"

namespace lacuna::wse {

/// A program into which words stream, and what it takes of the wafer.
struct StreamPlan {
  Program program;
  std::uint32_t rows_off = 0;              // rows of the rectangle without tokens
  std::uint64_t bytes = 0;                 // of the fullest core
  std::uint64_t limit = 0;                 // of its memory
  std::vector<std::uint32_t> row_of_step;  // output feature of each step and group, or kNoRow
  std::uint32_t element_shares = 1;        // of the elements of a row of cores, one of each group
  std::uint32_t padding = 0;               // elements that are none, of groups with fewer
  double io_share = 0;
};

/// Fills in what the edge gives it. Idealised copies are sent but not paid for.
void set_io(const StreamingSetup& setup, const GroupUse& use, StreamPlan& plan);

/// A weight-streaming product on a wafer, and how it was distributed.
struct StreamingPlan : StreamPlan {
  std::uint32_t most_features = 0;  // input features of a column, at most
  std::uint32_t most_outputs = 0;   // output features of a column, at most
  std::uint32_t fullest_column = 0;
  std::uint64_t weights = 0;                  // that are streamed (resident: activations)
  std::uint64_t useful = 0;                   // products whose operands are not zero, of all tokens
  std::uint64_t tested = 0;                   // elements the sender compared with zero
  std::uint64_t left_out = 0;                 // and left out
  std::uint64_t tested_at_cores = 0;          // elements a column of cores did, each of them
  std::vector<std::uint64_t> column_weights;  // of columns that have a stream of their own
  std::vector<std::uint32_t> column_features;  // of the streamed operand, kept in it or not
  std::uint32_t empty_rows = 0;                // of groups that have fewer rows than others
  /// Columns whose words are paid for.
  std::size_t streams() const { return column_weights.size() / element_shares; }
  std::uint32_t tree_block = 0;  // columns of each tree of the reduction, if there are several
};

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Numbers of one row that all its parts need: sums, or a maximum.
inline constexpr unsigned kRowStats = 2;
using RowStats = std::array<double, kRowStats>;

/// One pass over the elements of a row.
struct RowStage {
  unsigned stats = 0;    // it finds
  bool maximum = false;  // they are maxima, otherwise sums
};

/// An element of a row, its number, and what belongs to its column and to its row.
struct RowElement {
  double x = 0;      // operand 0: x, or in the backward the saved operand
  double dy = 0;     // operand 1: the gradient of the result
  double gamma = 1;  // factor of the column, or its bias
  double beta = 0;
  RowStats saved{};          // of the row, from the forward: mean and 1 / deviation
  std::uint64_t length = 1;  // of the row
};

/// An operation on rows; a row of a table. What it costs is said by each machine.
struct RowFunction {
  const char* op;  // or the fn of an eltwise
  Phase phase;
  bool columns = false;  // rows are the columns (tokens) of the operand, their length is m
  unsigned tensors = 1;
  unsigned vectors = 0;  // of m numbers that all rows share
  std::vector<RowStage> stages;

  /// What element `e` adds to statistic `i` of `stage`; `found` are those of the stages before.
  double (*partial)(const RowElement& e, unsigned stage, unsigned i, const RowStats* found);
  double (*result)(const RowElement& e, const RowStats* found);  // null: sums alone

  unsigned sums = 0;  // over all rows, for each column
  double (*column)(const RowElement& e, unsigned i) = nullptr;
  bool saved = false;  // needs the forward's statistics of each row

  bool output() const { return result != nullptr; }
};

/// Null if `op` is none of them.
const RowFunction* find_row_function(const LayerOp& op);

}  // namespace lacuna

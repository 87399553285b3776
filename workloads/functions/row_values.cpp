// SPDX-License-Identifier: Apache-2.0
#include "workloads/functions/row_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lacuna {
namespace {

constexpr std::uint64_t kVectorSeed = 2;  // of streams beside those of the operands
constexpr std::uint64_t kSavedSeed = 4;

}  // namespace

RowStats nothing_found(const RowStage& stage) {
  RowStats stats{};
  if (stage.maximum) stats.fill(-std::numeric_limits<double>::infinity());
  return stats;
}

void combine(const RowStage& stage, RowStats& stats, unsigned i, double value) {
  stats.at(i) = stage.maximum ? std::max(stats.at(i), value) : stats.at(i) + value;
}

RowElement read_row_element(const RowFunction& function, const RowReader& reader, std::uint64_t row,
                            std::uint64_t i, std::uint64_t length) {
  RowElement e;
  e.length = length;
  e.x = reader.operand(0, row, i);
  if (function.tensors > 1) e.dy = reader.operand(1, row, i);
  if (function.vectors > 0) e.gamma = reader.vector(0, i);
  if (function.vectors > 1) e.beta = reader.vector(1, i);
  for (unsigned s = 0; function.saved && s < kRowStats; ++s) e.saved.at(s) = reader.saved(row, s);
  return e;
}

double SeededRows::operand(unsigned tensor, std::uint64_t row, std::uint64_t i) const {
  return numbers_(seed_ + tensor, row * stride_ + i);
}

double SeededRows::vector(unsigned which, std::uint64_t i) const {
  return numbers_(seed_ + kVectorSeed + which, i);
}

/// A mean, and the reciprocal of a deviation.
double SeededRows::saved(std::uint64_t row, unsigned which) const {
  const double value = RealOperands{numbers_.sigma, DType::fp16}(seed_ + kSavedSeed + which, row);
  return which == 0 ? value / 4 : 0.5 + std::abs(value);
}

std::vector<RowStats> row_stats(const RowFunction& function, const RowReader& reader,
                                std::uint64_t row, std::uint64_t length) {
  std::vector<RowStats> found;
  for (unsigned s = 0; s < function.stages.size(); ++s) {
    const RowStage& stage = function.stages[s];
    RowStats stats = nothing_found(stage);
    for (std::uint64_t i = 0; i < length && stage.stats > 0; ++i) {
      const RowElement e = read_row_element(function, reader, row, i, length);
      for (unsigned j = 0; j < stage.stats; ++j) {
        combine(stage, stats, j, function.partial(e, s, j, found.data()));
      }
    }
    found.push_back(stats);
  }
  return found;
}

}  // namespace lacuna

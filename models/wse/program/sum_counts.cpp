// SPDX-License-Identifier: Apache-2.0
#include "models/wse/program/sum_counts.hpp"

#include <cstddef>
#include <utility>

namespace lacuna::wse {
namespace {

class SumCounter {
 public:
  explicit SumCounter(const Program& program)
      : kernel_(program.kernel), columns_(program.columns), times_(columns_, 0) {
    counts_.columns.resize(columns_);
    for (const std::uint32_t keeper : kernel_.final_column) ++times_[keeper];
  }

  SumCounts count() {
    for (std::uint32_t c = 0; c < columns_; ++c) counts_.columns[c].kept = times_[c];
    count_routes();
    return std::move(counts_);
  }

 private:
  /// All inputs but the last are added to what the column has, which it then has in any case.
  void count_routes() {
    for (std::uint32_t keeper = 0; keeper < columns_; ++keeper) {
      if (times_[keeper] == 0) continue;
      for (std::uint32_t place = 0; place < kernel_.groups.width; ++place) {
        const std::uint32_t c = kernel_.peer(keeper, place);
        const ReducePlan::Role& role = kernel_.role(keeper, c);
        for (std::uint32_t i = 0; i < role.inputs; ++i) {
          move(kernel_.peer(c, kernel_.reduce.inputs[role.first + i].from), c, times_[keeper]);
        }
        const std::uint64_t later = (role.inputs > 1 ? role.inputs - 1U : 0U) * times_[keeper];
        counts_.columns[c].gathered += later;
        counts_.columns[c].summed += later;
        counts_.columns[c].added += later;
      }
    }
    for_each_filled([&](SumCounts::Column& column, std::uint32_t c, std::uint32_t keeper) {
      ++column.summed;
      column.added += kernel_.role(keeper, c).inputs != 0 ? 1 : 0;
    });
  }

  template <class Visit>
  void for_each_filled(const Visit& visit) {
    for (std::size_t s = 0; s < kernel_.steps; ++s) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        if (kernel_.count(s, c) == 0) continue;
        ++counts_.columns[c].filled;
        visit(counts_.columns[c], c, kernel_.keeper(s, c));
      }
    }
  }

  /// Vectors from a column to another pass the routers between.
  void move(std::uint32_t from, std::uint32_t to, std::uint64_t vectors) {
    const bool east = to > from;
    for (std::uint32_t c = from; c != to; c = east ? c + 1 : c - 1) {
      counts_.columns[c].passed.at(east ? kEast : kWest) += vectors;
    }
    counts_.columns[to].passed[kRamp] += vectors;
    counts_.columns[to].inputs += vectors;
  }

  const StreamingKernel& kernel_;
  std::uint32_t columns_;
  std::vector<std::uint64_t> times_;  // by column: rows it keeps
  SumCounts counts_;
};

}  // namespace

SumCounts count_sums(const Program& program) { return SumCounter(program).count(); }

}  // namespace lacuna::wse

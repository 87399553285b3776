// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/ipu/rows/row_passes.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// How rows are dealt to tiles: each row is cut into `parts` equal parts, and rows go in runs to
/// groups of `parts` tiles. Part p of group g is on tile g * parts + p.
struct RowPlan {
  std::uint64_t parts = 1;
  std::uint64_t part_length = 0;       // elements, a multiple of the vector width
  std::vector<std::uint64_t> first;    // row of a group, one more at the end
  std::vector<std::uint64_t> lengths;  // of a row; one entry: of all
  Cycle estimate = 0;

  std::uint64_t groups() const { return first.size() - 1; }
  std::uint64_t length(std::uint64_t row) const {
    return lengths.size() == 1 ? lengths[0] : lengths[row % lengths.size()];
  }
};

// Bundles of a worker that do not depend on the length: for each row and pass 8 (address and
// count of the row 3, loop 1, filling the pipeline 2, summing across the vector 2), for each
// vector of columns and pass of column sums 6.
inline constexpr std::uint64_t kRowSetup = 8;
inline constexpr std::uint64_t kColumnSetup = 6;
// Clocks of the supervisor between passes whose rows are spread over all workers.
inline constexpr std::uint64_t kRowRendezvous = 12;

/// The code of the workers for rows of these numbers of vectors. Either each worker has whole
/// rows, or all workers share each row: whichever is over sooner.
struct RowWork {
  /// For passes [first, last) of `stages`: launches, each with the code of each worker.
  std::vector<std::vector<WorkerCode>> launches;
  std::uint64_t bundles = 0;  // of the busiest workers, over all launches
};
RowWork row_work(const Target& target, const std::vector<VectorPass>& stages, std::size_t first,
                 std::size_t last, const std::vector<std::uint64_t>& vectors);

/// The cheapest plan. Rows that a mask thins out (`lengths` has several entries) stay whole.
RowPlan plan_row_parts(const Target& target, const RowFunction& function, std::uint64_t rows,
                       std::vector<std::uint64_t> lengths, unsigned width, Cycle sync);

}  // namespace lacuna::ipu

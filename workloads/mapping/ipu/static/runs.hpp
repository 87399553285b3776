// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/ipu/static/planner.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::ipu {

/// The non-zeros of a sparse matrix in the order a static plan works on them: band after band,
/// in a band row after row. `rows` and `columns` are those of the mask, in blocks.
struct BandedNonzeros {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> columns;
  std::vector<std::uint64_t> band_begin;  // of a band, one more at the end

  BandedNonzeros(const Mask& mask, const StaticPlan& plan);
};

/// A row, column or other thing that a run of non-zeros uses, and which of its own it is there.
struct RunUse {
  std::uint32_t run;
  std::uint32_t slot;
};

/// Lists of RunUse, one after another.
struct RunUses {
  std::vector<std::uint32_t> first;  // of a list, one more at the end
  std::vector<RunUse> uses;          // of a list by ascending run

  std::uint32_t count(std::uint32_t list) const { return first[list + 1] - first[list]; }
};

/// The runs of non-zeros that the tiles of one part of the dense operand's columns work on. Run i
/// is that of the part's tile i; parts with equally many tiles have the same runs.
struct StaticRuns {
  struct Run {
    std::uint64_t begin = 0;  // in BandedNonzeros
    std::uint64_t end = 0;
    std::uint32_t first_row = 0;  // in row_ids, row_counts
    std::uint32_t rows = 0;
    std::uint32_t first_column = 0;  // in column_ids
    std::uint32_t columns = 0;

    std::uint64_t nonzeros() const { return end - begin; }
  };

  std::vector<Run> runs;
  std::vector<std::uint32_t> row_ids;     // rows of a run, in order
  std::vector<std::uint32_t> row_counts;  // non-zeros of the row in the run
  std::vector<std::uint32_t> column_ids;  // columns a run needs, ascending
  RunUses of_row;                         // the runs that contribute to a row
  RunUses of_column;                      // the runs that need a column

  StaticRuns(const Mask& mask, const StaticPlan& plan, const BandedNonzeros& nonzeros,
             unsigned tiles);

 private:
  void cut(const StaticPlan& plan, const BandedNonzeros& nonzeros, std::uint64_t total,
           unsigned tiles);
  void find_rows(const BandedNonzeros& nonzeros);
  void find_columns(const BandedNonzeros& nonzeros, std::uint32_t grid_columns);
};

}  // namespace lacuna::ipu

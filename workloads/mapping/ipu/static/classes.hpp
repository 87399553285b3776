// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/static/runs.hpp"

namespace lacuna::ipu {

/// One reduction of a static product: the partials of a row of blocks in one part of the columns.
struct RowSum {
  std::uint32_t part;
  std::uint32_t row;
  std::uint64_t first;     // of its elements in the class
  std::uint64_t elements;  // of each partial, and of the sum
};

/// All reductions of equally many partials. They are one reduction: their elements stand side by
/// side, part by part and row by row.
struct SumClass {
  std::uint32_t depth = 0;
  std::vector<RowSum> rows;
  std::uint64_t elements = 0;
  bool at_home = false;     // each element is summed where it belongs; else spread over all tiles
  unsigned first_tile = 0;  // of the spread ones
  unsigned workers = 0;     // that it may have of a tile
};

/// A run of elements of a row, a part of what a tile sums.
struct SumSegment {
  std::uint32_t row;    // in SumClass::rows
  std::uint64_t begin;  // in the row
  std::uint64_t elements;
};

/// What one call of the reduction makes on a tile: segments that stand side by side in their class.
struct SumVertex {
  std::uint32_t of_class = 0;  // in SumPlan::classes
  std::uint32_t first = 0;     // in TileSums::segments
  std::uint32_t segments = 0;
  std::uint64_t elements = 0;
  unsigned worker = 0;  // that makes it
};

/// What one tile sums, class by class.
struct TileSums {
  std::vector<SumSegment> segments;
  std::vector<SumVertex> vertices;
};

/// How the sums of a static product are made, after PopLibs popops/reduction (MIT). It merges them
/// into classes of equal depth. For each class it decides where it is summed, and by how many
/// workers of a tile. There is one stage, however deep the class is.
class SumPlan {
 public:
  /// `runs` by tiles of a part. `home` maps the result, {rows of blocks, columns, block}.
  SumPlan(const Target& target, const Types& types, const StaticPlan& plan,
          const std::map<unsigned, StaticRuns>& runs, std::uint32_t grid_rows,
          const LinearMap& home);

  /// By ascending depth, none without elements.
  const std::vector<SumClass>& classes() const { return classes_; }

  /// Of each tile: what it sums of the classes with two partials and more.
  const std::vector<TileSums>& tiles() const { return tiles_; }

  const StaticRuns& runs(const RowSum& row) const { return runs_.at(plan_.parts[row.part].tiles); }

  /// The contributions to a row, class.depth of them by ascending run.
  const RunUse* uses(const RowSum& row) const {
    const RunUses& of_row = runs(row).of_row;
    return of_row.uses.data() + of_row.first[row.row];
  }

  /// The first element of a row in the result.
  std::uint64_t first_output(const RowSum& row) const {
    return (row.row * plan_.padded_n + plan_.parts[row.part].begin) * plan_.block;
  }

 private:
  void find_classes(std::uint32_t grid_rows);
  void choose_workers();
  void choose_place(SumClass& sums, std::uint32_t index, const LinearMap& home) const;
  std::uint64_t most_at_home(const SumClass& sums, const LinearMap& home) const;
  void place_at_home(std::uint32_t index, const LinearMap& home);
  void place_on_all_tiles(std::uint32_t index);
  /// Runs of segments that have the same contributing tiles: where they begin, and at the end where
  /// the last one ends; elements of each.
  struct Regions {
    std::vector<std::uint32_t> begins;
    std::vector<std::uint64_t> sizes;
  };
  Regions cut_segments(const SumClass& sums, TileSums& tile, std::size_t first,
                       std::uint64_t wide) const;
  void cut_regions(std::uint32_t index, TileSums& tile, std::size_t first) const;
  bool same_tiles(const SumClass& sums, const RowSum& a, const RowSum& b) const;
  void give_to_workers(TileSums& tile) const;

  const Target target_;
  const Types types_;
  const StaticPlan& plan_;
  const std::map<unsigned, StaticRuns>& runs_;
  std::vector<SumClass> classes_;
  std::vector<TileSums> tiles_;
};

/// Cuts `size` elements in pieces of equally many grains, at most `most` of them, and none shorter
/// than `least` elements unless there is but one: where they end, by ascending end.
std::vector<std::uint64_t> even_cuts(std::uint64_t size, std::uint64_t grain, std::uint64_t most,
                                     std::uint64_t least);

/// Which worker of `workers` takes which reductions of `depth` partials with so many elements each.
/// If all are about equally long, workers take even runs of them. Else each goes, the shortest
/// first, to the worker that has least.
std::vector<unsigned> deal_pieces(const std::vector<std::uint64_t>& elements, std::uint32_t depth,
                                  unsigned workers, const Types& types);

}  // namespace lacuna::ipu

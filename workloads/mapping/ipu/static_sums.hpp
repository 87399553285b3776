// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/reduce_codelets.hpp"
#include "workloads/mapping/ipu/static_runs.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {

/// The partials of static products are summed where they are, as PopSparse's planner reckons: each
/// of the tiles that have contributions to a row of blocks, in one part of the columns, sums a
/// slice of it, in place of its own partials. Then the results move to their home. Small results
/// are summed there at once: all contributions are sent to it.
class StaticSums {
 public:
  /// Where the regions of a tile begin, in words.
  struct Places {
    std::uint32_t partials = 0;
    std::uint32_t received = 0;
    std::uint32_t output = 0;
  };

  /// `runs` by tiles of a part. All references must outlive this.
  StaticSums(const Target& target, const Types& types, const StaticPlan& plan,
             const std::map<unsigned, StaticRuns>& runs, std::uint32_t grid_rows,
             const LinearMap& home);

  /// What the fullest tile receives from others, in elements.
  std::uint64_t received() const { return received_; }

  /// Adds the exchange of partials after the compute set `multiply`, the sums, zeros for rows
  /// without contributions, and the move. What was moved is copied in the compute set that is open
  /// afterwards.
  void lower(ProgramBuilder& builder, ReduceCodelets& codelets, const Places& places,
             const LinearMap& home, std::uint32_t multiply, bool values);

 private:
  /// A slice of a row of blocks in one part, and who sums it.
  struct Slice {
    const ColumnPart& part;
    std::uint32_t row;
    std::uint64_t begin;  // in the row of the part, in elements
    std::uint64_t end;
    std::uint32_t owner;  // of the row's contributions; none if there is none
    std::uint32_t depth;
  };

  struct Tile {
    std::uint64_t received = 0;  // elements so far
    std::uint64_t moved = 0;     // bytes of results from others
    std::uint64_t zeros = 0;     // bytes
    std::vector<ReducePiece> pieces;
    std::vector<Reduction> sums;  // with values only
  };

  std::uint32_t words(std::uint64_t elements) const {
    return static_cast<std::uint32_t>(elements * types_.bytes() / 4);
  }
  template <class Visit>
  void for_each_slice(Visit visit) const;
  const RunUse* uses(const Slice& slice) const;
  Place partial(const Slice& slice, const RunUse& use) const;
  void collect(const Slice& slice, TransferList& list);
  void move(const Slice& slice, const LinearMap& home, TransferList& list);
  void collect_at_home(const Slice& slice, const LinearMap& home, TransferList& list);
  void add_sums(ProgramBuilder& builder, ReduceCodelets& codelets);
  std::uint64_t first_output(const Slice& slice) const {
    return (slice.row * plan_.padded_n + slice.part.begin) * plan_.block + slice.begin;
  }

  const Target target_;
  const Types types_;
  const StaticPlan& plan_;
  const std::map<unsigned, StaticRuns>& runs_;
  const std::uint32_t grid_rows_;
  const bool at_home_;
  std::uint64_t received_ = 0;
  Places places_;
  bool values_ = false;  // keep what makes the sums, too
  std::vector<Tile> tiles_;
};

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/static/classes.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {

/// What follows the multiplication of a static product. A sum of one partial goes home, in a step
/// of its own. All others go, whatever their class, to where their class is summed; what is there
/// already is copied beside what comes. All tiles sum, and what was not summed at home goes home.
/// Rows without partials are not written: memory is zero when a program begins.
class StaticReduction {
 public:
  /// Where the regions of a tile begin, in words.
  struct Places {
    std::uint32_t partials = 0;
    std::uint32_t received = 0;
    std::uint32_t sums = 0;
    std::uint32_t output = 0;
  };

  /// `runs` by tiles of a part. All references must outlive this.
  StaticReduction(const Target& target, const Types& types, const StaticPlan& plan,
                  const std::map<unsigned, StaticRuns>& runs, std::uint32_t grid_rows,
                  const LinearMap& home);

  /// Elements on the fullest tile: partials of what it sums, and sums that are not yet in place.
  std::uint64_t received() const { return received_; }
  std::uint64_t sums() const { return summed_; }

  /// Adds all steps after the compute set `multiply`, which is closed.
  void lower(ProgramBuilder& builder, ReduceCodelets& codelets, const Places& places,
             std::uint32_t multiply, bool values);

 private:
  /// Where a vertex finds its stack of partials, depth x elements, and puts the sums; in elements
  /// of the regions `received` and `sums`. A vertex whose sums are side by side in the result
  /// writes them there.
  struct Buffers {
    std::uint64_t stack = 0;
    std::uint64_t sums = 0;
    bool in_place = false;
  };

  std::uint32_t words(std::uint64_t elements) const {
    return static_cast<std::uint32_t>(elements * types_.bytes() / 4);
  }
  const SumClass& class_of(const SumVertex& vertex) const {
    return plan_.classes()[vertex.of_class];
  }
  bool is_contiguous(const TileSums& tile, const SumVertex& vertex) const;
  void take_room(TileId id);
  Place partial(const RowSum& row, const RunUse& use, std::uint64_t begin) const;
  void send_single(TransferList& list);
  void send_partials(TileId id, const SumVertex& vertex, const Buffers& at, TransferList& list);
  void send_sums(TileId id, const SumVertex& vertex, const Buffers& at, TransferList& list);
  Reduction reduction_of(TileId id, const SumVertex& vertex, const Buffers& at) const;
  void add_sums(TileId id, ProgramBuilder& builder, ReduceCodelets& codelets);
  void move(Place from, Place to, std::uint64_t elements, TransferList& list);
  std::uint32_t flush_copies(ProgramBuilder& builder, ReduceCodelets& codelets, const char* name);

  const Target target_;
  const Types types_;
  const StaticPlan& of_;
  const LinearMap& home_;
  const SumPlan plan_;
  std::vector<std::vector<Buffers>> buffers_;  // of each tile's vertices
  std::uint64_t received_ = 0;
  std::uint64_t summed_ = 0;
  Places places_;
  bool values_ = false;                         // keep what makes the sums, too
  std::vector<std::vector<LocalCopy>> copies_;  // of each tile, since the last flush
};

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"

namespace lacuna::ipu {

/// Sums vectors of FP32 partials of several tiles in two stages. Tiles form clusters of about the
/// root of their number, whose sizes differ by at most one. There are as many slices as the
/// smallest has tiles, and a tile sums one in its cluster. Then tiles with the same slice in all
/// clusters sum a part of it each. So no tile receives from more than twice the root of them.
class ColumnReduce {
 public:
  /// A stretch of the result: elements [begin, end) are on `tile`, from word `address` on.
  struct Piece {
    TileId tile;
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t address;
  };

  /// `tiles` have `size` partials each at word `partials`. Words from `scratch` on are free;
  /// `scratch_words()` of them are used.
  ColumnReduce(std::vector<TileId> tiles, std::uint64_t size, std::uint32_t partials,
               std::uint32_t scratch);

  std::uint32_t scratch_words() const {
    return static_cast<std::uint32_t>(output_ + part_words_ - scratch_);
  }

  // The stages, to be put into supersteps by the owner; several sums may share supersteps.
  void gather_slices(TransferList& list) const;
  void sum_slices(ProgramBuilder& builder, ReduceCodelets& reduce, bool values) const;
  void gather_parts(TransferList& list) const;
  void sum_parts(ProgramBuilder& builder, ReduceCodelets& reduce, DType type, bool values) const;

  /// Where the result is, in the type of the last stage.
  std::vector<Piece> pieces() const;

 private:
  std::uint64_t slices() const { return tiles_.size() / clusters_; }
  std::uint64_t members(std::uint64_t cluster) const {
    return slices() + (cluster < tiles_.size() % clusters_ ? 1 : 0);
  }
  /// Tile `member` of a cluster, which sums the slice of that number if there is one.
  TileId tile(std::uint64_t cluster, std::uint64_t member) const;
  std::uint64_t slice_begin(std::uint64_t slice) const;
  std::uint64_t part_begin(std::uint64_t slice, std::uint64_t part) const;
  std::uint32_t received_slice(std::uint64_t source) const;
  std::uint32_t received_part(std::uint64_t from) const;

  const std::vector<TileId> tiles_;
  const std::uint64_t size_;
  const std::uint32_t partials_;
  const std::uint32_t scratch_;
  std::uint64_t clusters_ = 1;
  std::uint64_t slice_words_ = 0;
  std::uint64_t part_words_ = 0;
  std::uint32_t sums_ = 0;  // of a tile's slice
  std::uint32_t parts_ = 0;
  std::uint32_t output_ = 0;
};

}  // namespace lacuna::ipu

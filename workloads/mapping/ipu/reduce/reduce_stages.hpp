// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna::ipu {

/// Up to how many partials are summed in one stage, and in two; more take three.
struct StageDepths {
  std::uint64_t one = 15;
  std::uint64_t two = 124;
};

/// How many contributions the tile with the most of them sums in each stage.
std::vector<std::uint64_t> stage_depths(std::uint64_t depth, const StageDepths& most);

/// How the partials of `depth` tiles are summed. In one stage each tile sums a slice of the output.
/// In two, neighbours form groups of about the square root of them: each tile sums a slice in its
/// group, then its final slice over the groups. In three, groups are of about the cube root.
/// Numbers of stages as PopLibs poplin getMultiStageReducePlan (MIT).
///
/// Level 0 has each tile alone, each stage makes the next level, the last level is all of them. The
/// tiles of a group have the sums of its partials, each its slice.
class ReduceStages {
 public:
  ReduceStages(std::uint64_t depth, const StageDepths& most);

  std::uint64_t depth() const { return levels_.back().slice_of.size(); }
  unsigned stages() const { return static_cast<unsigned>(levels_.size()) - 1; }

  /// Groups of a level are runs of neighbours.
  std::uint64_t groups(unsigned level) const { return levels_[level].first.size() - 1; }
  std::uint64_t group_of(unsigned level, std::uint64_t tile) const;
  std::uint64_t first(unsigned level, std::uint64_t group) const {
    return levels_[level].first[group];
  }
  std::uint64_t size(unsigned level, std::uint64_t group) const {
    return levels_[level].first[group + 1] - levels_[level].first[group];
  }

  /// Groups of the level below in one of this level, from 1 on; and which of them a tile is in.
  std::uint64_t parts(unsigned level, std::uint64_t group) const;
  std::uint64_t part_of(unsigned level, std::uint64_t tile) const;

  /// A tile's slice of its group. It lies, as far as groups are equal, in what the tile has sums of
  /// already.
  std::uint64_t slice_of(unsigned level, std::uint64_t tile) const {
    return levels_[level].slice_of[tile];
  }
  std::uint64_t owner_of(unsigned level, std::uint64_t group, std::uint64_t slice) const {
    return levels_[level].owner_of[first(level, group) + slice];
  }

 private:
  struct Level {
    std::vector<std::uint64_t> first;  // tile of a group, one more at the end
    std::vector<std::uint64_t> slice_of;
    std::vector<std::uint64_t> owner_of;  // by group, its slices in order
  };

  void add(std::vector<std::uint64_t> first);

  std::vector<Level> levels_;
};

}  // namespace lacuna::ipu

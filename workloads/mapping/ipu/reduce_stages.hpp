// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace lacuna::ipu {

/// How the partials of `depth` tiles are summed. Up to `most` of them at once, each tile a slice
/// of the output. More of them in two stages: groups of about the square root of them, neighbours,
/// sum theirs, each tile a slice; then each tile sums its final slice over the groups. After
/// PopLibs poplin getMultiStageReducePlan (MIT), which has a third stage from 125 on; not here.
class ReduceStages {
 public:
  ReduceStages(std::uint64_t depth, std::uint64_t most);

  std::uint64_t depth() const { return slice_of_.size(); }
  bool two() const { return groups() != depth(); }

  /// In one stage every tile is a group of its own.
  std::uint64_t groups() const { return first_.size() - 1; }
  std::uint64_t group_of(std::uint64_t tile) const;
  std::uint64_t first(std::uint64_t group) const { return first_[group]; }
  std::uint64_t size(std::uint64_t group) const { return first_[group + 1] - first_[group]; }

  /// The final slice of a tile lies, as far as groups are equal, in what it has summed before.
  std::uint64_t slice_of(std::uint64_t tile) const { return slice_of_[tile]; }
  std::uint64_t owner_of(std::uint64_t slice) const { return owner_of_[slice]; }

 private:
  std::vector<std::uint64_t> first_;  // tile of a group, one more at the end
  std::vector<std::uint64_t> slice_of_;
  std::vector<std::uint64_t> owner_of_;
};

}  // namespace lacuna::ipu

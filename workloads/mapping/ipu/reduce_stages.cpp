// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reduce_stages.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/mapping/ceil_div.hpp"

namespace lacuna::ipu {

ReduceStages::ReduceStages(std::uint64_t depth, std::uint64_t most) {
  std::uint64_t groups = depth;
  if (depth > most) {
    std::uint64_t root = 1;
    while (root * root < depth) ++root;
    groups = ceil_div(depth, root);
  }
  for (std::uint64_t g = 0; g <= groups; ++g) first_.push_back(g * depth / groups);
  owner_of_.resize(depth);
  std::iota(owner_of_.begin(), owner_of_.end(), std::uint64_t{0});
  if (groups != depth) {
    // By the place in the group: tile p of a group of s has summed what begins at p / s of all.
    std::stable_sort(owner_of_.begin(), owner_of_.end(), [&](std::uint64_t a, std::uint64_t b) {
      const std::uint64_t ga = group_of(a);
      const std::uint64_t gb = group_of(b);
      return (a - first(ga)) * size(gb) < (b - first(gb)) * size(ga);
    });
  }
  slice_of_.resize(depth);
  for (std::uint64_t slice = 0; slice < depth; ++slice) slice_of_[owner_of_[slice]] = slice;
}

std::uint64_t ReduceStages::group_of(std::uint64_t tile) const {
  const auto next = std::upper_bound(first_.begin(), first_.end(), tile);
  return static_cast<std::uint64_t>(next - first_.begin()) - 1;
}

}  // namespace lacuna::ipu

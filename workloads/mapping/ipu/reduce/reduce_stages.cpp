// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reduce/reduce_stages.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

using Firsts = std::vector<std::uint64_t>;

/// The least number whose power is not below `n`.
std::uint64_t root_of(std::uint64_t n, unsigned power) {
  const auto raised = [&](std::uint64_t root) {
    std::uint64_t product = 1;
    for (unsigned p = 0; p < power; ++p) product *= root;
    return product;
  };
  std::uint64_t root = 1;
  while (raised(root) < n) ++root;
  return root;
}

/// Cuts each of these runs into parts of at most `most`, as equal as can be.
Firsts cut(const Firsts& runs, std::uint64_t most) {
  Firsts firsts{0};
  for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
    const std::uint64_t size = runs[r + 1] - runs[r];
    const std::uint64_t parts = ceil_div(size, most);
    for (std::uint64_t p = 1; p <= parts; ++p) firsts.push_back(runs[r] + p * size / parts);
  }
  return firsts;
}

}  // namespace

std::vector<std::uint64_t> stage_depths(std::uint64_t depth, const StageDepths& most) {
  if (depth <= most.one) return {depth};
  const unsigned stages = depth > most.two ? 3 : 2;
  const std::uint64_t root = root_of(depth, stages);
  std::vector<std::uint64_t> depths;  // from the last stage on
  std::uint64_t size = depth;
  for (std::uint64_t largest = stages == 3 ? root * root : root;; largest = root) {
    const std::uint64_t parts = ceil_div(size, largest);
    if (parts > 1) depths.push_back(parts);
    size = ceil_div(size, parts);
    if (largest == root) break;
  }
  if (size > 1 || depths.empty()) depths.push_back(size);
  std::reverse(depths.begin(), depths.end());
  return depths;
}

ReduceStages::ReduceStages(std::uint64_t depth, const StageDepths& most) {
  const Firsts all{0, depth};
  std::vector<Firsts> levels{all};
  if (depth > most.one) {
    const unsigned stages = depth > most.two ? 3 : 2;
    const std::uint64_t root = root_of(depth, stages);
    if (stages == 3) levels.push_back(cut(levels.back(), root * root));
    levels.push_back(cut(levels.back(), root));
  }
  levels.push_back(cut(all, 1));
  // Of few partials two levels may be the same.
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  std::for_each(levels.rbegin(), levels.rend(), [&](Firsts& firsts) { add(std::move(firsts)); });
  if (stages() == 0) add(all);  // a stage without anything to add
}

// Slices are in the order of those of the level below, as parts of the whole: tile p of a group of
// s has summed what begins at p / s of all.
void ReduceStages::add(Firsts firsts) {
  const std::uint64_t depth = firsts.back();
  Level level;
  level.first = std::move(firsts);
  level.owner_of.resize(depth);
  std::iota(level.owner_of.begin(), level.owner_of.end(), std::uint64_t{0});
  const unsigned below = levels_.empty() ? 0 : static_cast<unsigned>(levels_.size()) - 1;
  level.slice_of.resize(depth);
  for (std::uint64_t g = 0; g + 1 < level.first.size(); ++g) {
    const auto begin = level.owner_of.begin() + static_cast<std::ptrdiff_t>(level.first[g]);
    const auto end = level.owner_of.begin() + static_cast<std::ptrdiff_t>(level.first[g + 1]);
    if (below > 0) {
      std::stable_sort(begin, end, [&](std::uint64_t a, std::uint64_t b) {
        return slice_of(below, a) * size(below, group_of(below, b)) <
               slice_of(below, b) * size(below, group_of(below, a));
      });
    }
    for (auto owner = begin; owner != end; ++owner) {
      level.slice_of[*owner] = static_cast<std::uint64_t>(owner - begin);
    }
  }
  levels_.push_back(std::move(level));
}

std::uint64_t ReduceStages::group_of(unsigned level, std::uint64_t tile) const {
  const Firsts& firsts = levels_[level].first;
  const auto next = std::upper_bound(firsts.begin(), firsts.end(), tile);
  return static_cast<std::uint64_t>(next - firsts.begin()) - 1;
}

std::uint64_t ReduceStages::parts(unsigned level, std::uint64_t group) const {
  const std::uint64_t last = first(level, group + 1) - 1;
  return group_of(level - 1, last) - group_of(level - 1, first(level, group)) + 1;
}

std::uint64_t ReduceStages::part_of(unsigned level, std::uint64_t tile) const {
  const std::uint64_t group = group_of(level, tile);
  return group_of(level - 1, tile) - group_of(level - 1, first(level, group));
}

}  // namespace lacuna::ipu

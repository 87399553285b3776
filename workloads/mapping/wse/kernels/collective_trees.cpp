// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/collective_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/mapping/wse/reduce_search.hpp"

namespace lacuna::wse {

double two_phase_cycles(std::uint32_t cores, std::uint32_t words, unsigned ramp) {
  const double p = cores;
  const double b = words;
  const double root = std::sqrt(p);
  return std::max(2 * b, b * (2 * p - 2 * root) / (p - 1) + p - 1) +
         (2.0 * ramp + 1) * (2 * root - 2);
}

ReduceTree chain_tree(std::uint32_t cores) {
  ReduceTree tree(cores);
  for (std::uint32_t i = 0; i + 1 < cores; ++i) tree[i] = {i + 1};
  return tree;
}

ReduceTree star_tree(std::uint32_t cores) {
  ReduceTree tree(cores);
  for (std::uint32_t i = 1; i < cores; ++i) tree[0].push_back(i);
  return tree;
}

ReduceTree binomial_tree(std::uint32_t cores) {
  ReduceTree tree(cores);
  for (std::uint32_t i = 0; i < cores; ++i) {
    const std::uint32_t most = i == 0 ? cores : i & (~i + 1);
    for (std::uint32_t near = 1; near < most && i + near < cores; near *= 2) {
      tree[i].push_back(i + near);
    }
  }
  return tree;
}

namespace {

/// Sizes of the groups, that of the root first. All but the farthest add two streams; the farthest
/// adds one and so has time for more cores.
using Groups = std::vector<std::uint32_t>;

/// When the root has all words, if the groups next to the root are no smaller than later ones. From
/// the far end on, each leader adds its group's vector, and a task later what comes from afar.
std::uint64_t group_cycles(const Groups& sizes, std::uint64_t words, unsigned ramp) {
  constexpr std::uint64_t kRound = 5;  // a core's second vector waits for a task
  constexpr std::uint64_t kOnWay =
      4;  // from the first sum of the farthest leader to the next group
  const std::uint64_t step = 2UL * ramp + 1;
  const std::uint64_t first = (step + 1) * (sizes.back() - 1);
  std::uint64_t done = first + words;
  for (std::size_t g = sizes.size() - 1; g-- != 0;) {
    const std::uint64_t size = sizes[g];
    std::uint64_t own = (step + 1) * (size - 1) + words;
    if (g + 2 == sizes.size() && size > 2) {
      // Words from afar, hop by hop, catch up with the group's own, which pass a core in
      // `step` + 1 cycles. Two stop in each router until their turn comes; what they have
      // overtaken on its link waits for a slot.
      const std::uint64_t behind = first + kOnWay > words ? first + kOnWay - words : 0;
      const std::uint64_t links = (behind + step - 1) / step;  // before they have caught up
      if (links < size - 2) own += std::min<std::uint64_t>(words, 2 * (size - 2 - links));
    }
    done += step + size;
    if (size > 1) done = std::max(done, own + kRound + words);
  }
  return done;
}

/// About sqrt(P) groups of about sqrt(P) cores: the published kernel does not say how it divides a
/// line that is no square, and its model knows no whole groups. Of the divisions near the root the
/// one whose time, as estimated here, is nearest to the published one.
Groups choose_groups(std::uint32_t cores, std::uint32_t words, unsigned ramp) {
  const auto root = static_cast<std::uint32_t>(std::lround(std::sqrt(cores)));
  const std::uint32_t least_size = (root + 1) / 2;
  const double published = two_phase_cycles(cores, words, ramp);
  Groups best;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t near = std::max(root, 3U) - 2; near <= root; ++near) {
    // all but the farthest group, from as large as can be; the first `larger` have one core more
    for (std::uint32_t head = cores - 1; head >= near * least_size; --head) {
      Groups sizes(near, head / near);
      for (std::uint32_t g = 0; g < head % near; ++g) ++sizes[g];
      sizes.push_back(cores - head);
      const double apart =
          std::abs(static_cast<double>(group_cycles(sizes, words, ramp)) - published);
      if (apart >= least) continue;
      least = apart;
      best = sizes;
    }
  }
  return best;
}

}  // namespace

ReduceTree two_phase_tree(std::uint32_t cores, std::uint32_t words, unsigned ramp) {
  if (cores < 4) return chain_tree(cores);
  ReduceTree tree(cores);
  std::uint32_t leader = 0;
  for (const std::uint32_t size : choose_groups(cores, words, ramp)) {
    const std::uint32_t end = leader + size;
    for (std::uint32_t i = leader; i + 1 < end; ++i) tree[i] = {i + 1};
    if (end < cores) tree[leader].push_back(end);
    leader = end;
  }
  return tree;
}

ReduceTree generated_tree(std::uint32_t cores, std::uint32_t words, unsigned ramp) {
  const ReduceSearch search(cores, words, ramp);
  struct Part {
    std::uint32_t root;
    std::uint32_t cores;
    std::uint32_t depth;
  };
  ReduceTree tree(cores);
  std::vector<Part> parts = {{0, cores, search.depth()}};
  while (!parts.empty()) {
    Part part = parts.back();
    parts.pop_back();
    while (part.cores > 1) {
      const std::uint32_t farthest = search.split(part.cores, part.depth);
      part.cores -= farthest;
      const std::uint32_t child = part.root + part.cores;
      tree[part.root].push_back(child);
      parts.push_back({child, farthest, part.depth - 1});
    }
    std::reverse(tree[part.root].begin(), tree[part.root].end());
  }
  return tree;
}

}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lacuna::wse {

/// The search for a reduction tree over a line of cores: E(r, d), the least total of hops of a
/// pre-order tree of r cores and depth d, and the depth with the least time. Luczynski et al.,
/// HPDC 2024.
class ReduceSearch {
 public:
  ReduceSearch(std::uint32_t cores, std::uint32_t words, unsigned ramp)
      : cores_(cores), words_(words), step_(2 * ramp + 1) {
    energy_.emplace_back(cores + 1, kNone);
    energy_[0][0] = energy_[0][1] = 0;
    split_.emplace_back(cores + 1, 0);
    double least = cores == 1 ? 0 : std::numeric_limits<double>::infinity();
    // deeper trees save hops but cost a step each; beyond this depth they cannot win
    for (std::uint32_t depth = 1; depth < cores && depth * step_ < least; ++depth) {
      add_depth();
      const double time = cycles_at(depth);
      if (time < least) depth_ = depth;
      least = std::min(least, time);
    }
    least_ = least;
  }

  double cycles() const { return least_; }
  std::uint32_t depth() const { return depth_; }

  /// Of a tree of `cores` cores and depth `depth`: cores of the subtree of the farthest child.
  std::uint32_t split(std::uint32_t cores, std::uint32_t depth) const {
    return split_[std::min<std::size_t>(depth, split_.size() - 1)][cores];
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0} >> 2U;

  void add_depth() {
    const std::vector<std::uint64_t>& lower = energy_.back();
    std::vector<std::uint64_t> energy(cores_ + 1, kNone);
    std::vector<std::uint32_t> split(cores_ + 1, 0);
    energy[0] = energy[1] = 0;
    for (std::uint32_t r = 2; r <= cores_; ++r) {
      for (std::uint32_t s = 1; s < r; ++s) {
        if (lower[s] == kNone || energy[r - s] == kNone) continue;
        const std::uint64_t hops = lower[s] + energy[r - s] + r - s;
        if (hops >= energy[r]) continue;
        energy[r] = hops;
        split[r] = s;
      }
    }
    energy_.push_back(std::move(energy));
    split_.push_back(std::move(split));
  }

  double cycles_at(std::uint32_t depth) const {
    const double links = cores_ - 1;
    return static_cast<double>(words_) * static_cast<double>(energy_[depth][cores_]) / links +
           links + static_cast<double>(step_) * depth;
  }

  std::uint32_t cores_;
  std::uint32_t words_;
  std::uint32_t step_;
  std::uint32_t depth_ = 0;
  double least_ = 0;
  std::vector<std::vector<std::uint64_t>> energy_;  // by depth, then cores
  std::vector<std::vector<std::uint32_t>> split_;
};

}  // namespace lacuna::wse

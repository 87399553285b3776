// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dynamic/buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

/// Meta-information of a sub-group before its rows.
std::uint64_t group_words(bool element_wise, unsigned workers) {
  return element_wise ? 9 + 5 * std::uint64_t{workers} : 7;
}

class Filler {
 public:
  Filler(const DynamicPlan& plan, const Mask& mask, unsigned workers)
      : plan_(plan), mask_(mask), element_wise_(plan.block == 1), workers_(workers) {
    Bucket empty;
    empty.element_wise = element_wise_;
    empty.workers = workers;
    set_.buckets.assign(plan.tiles(), empty);
    words_.assign(plan.tiles(), 0);
    nonzeros_.assign(plan.tiles(), 0);
    overflow_.resize(plan.x * plan.y);
  }

  BucketSet run() {
    deal();
    for (std::uint64_t i = 0; i < set_.buckets.size(); ++i) trim(i);
    // Pieces go to buckets of the same (x, y), then of the same x, then anywhere; whole rows first.
    for (std::uint64_t range = 1; range <= 3; ++range) {
      for (const bool split : {false, true}) rebalance(range, split);
    }
    for (const SubGroup& rest : overflow_) {
      if (rest.rows.empty()) continue;
      throw SimulationError(fmt::format(
          "overflow in buckets: {} non-zeros of partition ({}, {}) fit no bucket of {} blocks and "
          "{} words",
          rest.nonzeros(), rest.x, rest.y, plan_.bucket_blocks, plan_.bucket_words));
    }
    return std::move(set_);
  }

 private:
  std::uint64_t index(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return (y * plan_.z + z) * plan_.x + x;
  }

  /// Each rectangle's non-zeros, row by row, in Z equal runs.
  void deal() {
    std::vector<std::uint64_t> counts(plan_.x * plan_.y, 0);
    const auto rectangle = [&](std::uint32_t row, std::uint32_t column) {
      return column / plan_.tile_y * plan_.x + row / plan_.tile_x;
    };
    for (std::uint32_t row = 0; row < mask_.grid_rows(); ++row) {
      for (std::uint64_t i = mask_.offsets[row]; i < mask_.offsets[row + 1]; ++i) {
        ++counts[rectangle(row, mask_.columns[i])];
      }
    }
    std::vector<std::uint64_t> dealt(counts.size(), 0);
    for (std::uint32_t row = 0; row < mask_.grid_rows(); ++row) {
      for (std::uint64_t i = mask_.offsets[row]; i < mask_.offsets[row + 1]; ++i) {
        const std::uint64_t r = rectangle(row, mask_.columns[i]);
        const std::uint64_t z = dealt[r]++ / ceil_div(counts[r], plan_.z);
        add(index(r % plan_.x, r / plan_.x, z), static_cast<std::uint32_t>(r % plan_.x),
            static_cast<std::uint32_t>(r / plan_.x), row, mask_.columns[i]);
      }
    }
  }

  /// The bucket's sub-group (x, y), or null: it has one at most, whenever its pieces arrive.
  SubGroup* find(std::uint64_t bucket, std::uint32_t x, std::uint32_t y) {
    std::vector<SubGroup>& groups = set_.buckets[bucket].groups;
    const auto found = std::find_if(groups.rbegin(), groups.rend(), [x, y](const SubGroup& group) {
      return group.x == x && group.y == y;
    });
    return found == groups.rend() ? nullptr : &*found;
  }

  /// Adds one non-zero to the bucket's sub-group (x, y).
  void add(std::uint64_t bucket, std::uint32_t x, std::uint32_t y, std::uint32_t row,
           std::uint32_t column) {
    SubGroup* group = find(bucket, x, y);
    if (group == nullptr) {
      std::vector<SubGroup>& groups = set_.buckets[bucket].groups;
      group = &groups.emplace_back(SubGroup{x, y, {}});
      words_[bucket] += group_words(element_wise_, workers_);
    }
    std::vector<BucketRow>& rows = group->rows;
    if (rows.empty() || rows.back().row != row) {
      rows.push_back({row, {}});
      words_[bucket] += 2;
    }
    rows.back().columns.push_back(column);
    ++words_[bucket];
    ++nonzeros_[bucket];
  }

  bool fits(std::uint64_t bucket, std::uint64_t more_words, std::uint64_t more_nonzeros) const {
    return words_[bucket] + more_words < plan_.bucket_words &&
           nonzeros_[bucket] + more_nonzeros <= plan_.bucket_blocks;
  }

  /// Takes rows from the end of a bucket until the rest fits.
  void trim(std::uint64_t bucket) {
    std::vector<SubGroup>& groups = set_.buckets[bucket].groups;
    while (!groups.empty() && !fits(bucket, 0, 0)) {
      SubGroup& group = groups.back();
      SubGroup& rest = overflow_[group.y * plan_.x + group.x];
      rest.x = group.x;
      rest.y = group.y;
      BucketRow row = std::move(group.rows.back());
      group.rows.pop_back();
      words_[bucket] -= 2 + row.columns.size();
      nonzeros_[bucket] -= row.columns.size();
      rest.rows.push_back(std::move(row));
      if (!group.rows.empty()) continue;
      words_[bucket] -= group_words(element_wise_, workers_);
      groups.pop_back();
    }
  }

  /// The partitions whose buckets may take pieces of (x, y): buckets travel forward, so those
  /// before it come first.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> hosts(const SubGroup& rest,
                                                             std::uint64_t range) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
    const std::uint64_t far_x = range == 3 ? plan_.x : 1;
    const std::uint64_t far_y = range == 1 ? 1 : plan_.y;
    for (std::uint64_t dx = 0; dx < far_x; ++dx) {
      for (std::uint64_t dy = 0; dy < far_y; ++dy) {
        result.emplace_back(static_cast<std::uint32_t>((rest.x + plan_.x - dx) % plan_.x),
                            static_cast<std::uint32_t>((rest.y + plan_.y - dy) % plan_.y));
      }
    }
    return result;
  }

  void rebalance(std::uint64_t range, bool split) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < overflow_.size(); ++i) {
      if (!overflow_[i].rows.empty()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return overflow_[a].nonzeros() > overflow_[b].nonzeros();
    });
    for (const std::size_t i : order) {
      for (const auto& [x, y] : hosts(overflow_[i], range)) {
        for (std::uint64_t z = 0; z < plan_.z; ++z) move(overflow_[i], x, y, z, split);
      }
    }
  }

  /// Moves what fits of `rest` to the bucket (x, y, z).
  void move(SubGroup& rest, std::uint32_t x, std::uint32_t y, std::uint64_t z, bool split) {
    const std::uint64_t bucket = index(x, y, z);
    std::vector<BucketRow> left;
    for (BucketRow& row : rest.rows) {
      const bool present = find(bucket, rest.x, rest.y) != nullptr;
      const std::uint64_t entry = 2 + (present ? 0 : group_words(element_wise_, workers_));
      std::size_t taken = 0;
      while (taken < row.columns.size() && fits(bucket, entry + taken + 1, taken + 1)) ++taken;
      if (taken == 0 || (!split && taken < row.columns.size())) {
        left.push_back(std::move(row));
        continue;
      }
      for (std::size_t i = 0; i < taken; ++i) add(bucket, rest.x, rest.y, row.row, row.columns[i]);
      note_distance(rest, x, y);
      if (taken == row.columns.size()) continue;
      row.columns.erase(row.columns.begin(),
                        row.columns.begin() + static_cast<std::ptrdiff_t>(taken));
      left.push_back(std::move(row));
    }
    rest.rows = std::move(left);
  }

  void note_distance(const SubGroup& group, std::uint32_t x, std::uint32_t y) {
    const auto dx = static_cast<std::uint32_t>((group.x + plan_.x - x) % plan_.x);
    const auto dy = static_cast<std::uint32_t>((group.y + plan_.y - y) % plan_.y);
    set_.steps_x = std::max(set_.steps_x, dx + 1);
    // With steps along the rows, every distance along the contraction is visited.
    set_.steps_y = std::max(set_.steps_y, dy + 1);
    if (set_.steps_x > 1) set_.steps_y = static_cast<std::uint32_t>(plan_.y);
  }

  const DynamicPlan& plan_;
  const Mask& mask_;
  const bool element_wise_;
  const unsigned workers_;
  BucketSet set_;
  std::vector<std::uint64_t> words_;  // meta-information of each bucket
  std::vector<std::uint64_t> nonzeros_;
  std::vector<SubGroup> overflow_;  // by y, then x
};

}  // namespace

std::uint64_t SubGroup::nonzeros() const {
  std::uint64_t total = 0;
  for (const BucketRow& row : rows) total += row.columns.size();
  return total;
}

std::uint64_t Bucket::nonzeros() const {
  std::uint64_t total = 0;
  for (const SubGroup& group : groups) total += group.nonzeros();
  return total;
}

std::uint64_t Bucket::words() const {
  std::uint64_t total = 1;  // the terminator
  for (const SubGroup& group : groups) {
    total += group_words(element_wise, workers) + 2 * group.rows.size() + group.nonzeros();
  }
  return total;
}

BucketSet fill_buckets(const DynamicPlan& plan, const Mask& mask, unsigned workers) {
  return Filler(plan, mask, workers).run();
}

DynamicPlan transposed_plan(const DynamicPlan& plan) {
  DynamicPlan result = plan;
  std::swap(result.x, result.y);
  std::swap(result.tile_x, result.tile_y);
  std::swap(result.forward, result.transposed);
  return result;
}

BucketSet transposed_buckets(const DynamicPlan& plan, const BucketSet& buckets) {
  BucketSet result;
  result.steps_x = buckets.steps_y;
  result.steps_y = buckets.steps_x;
  result.buckets.resize(buckets.buckets.size());
  for (std::uint64_t y = 0; y < plan.y; ++y) {
    for (std::uint64_t z = 0; z < plan.z; ++z) {
      for (std::uint64_t x = 0; x < plan.x; ++x) {
        Bucket bucket = buckets.buckets[(y * plan.z + z) * plan.x + x];
        for (SubGroup& group : bucket.groups) std::swap(group.x, group.y);
        result.buckets[(x * plan.z + z) * plan.y + y] = std::move(bucket);
      }
    }
  }
  return result;
}

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/popsparse_mask.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace lacuna {
namespace {

/// x <- 16807 x mod 2^31 - 1: minstd_rand0 of the standard, the default engine of the GNU library.
class MinimalStandard {
 public:
  explicit MinimalStandard(std::uint32_t seed)
      : state_(seed % kModulus == 0 ? 1 : seed % kModulus) {}

  /// Uniform in [0, most], as that library's uniform_int_distribution draws it.
  std::uint64_t uniform(std::uint64_t most) {
    const std::uint64_t each = (kModulus - 2) / (most + 1);
    const std::uint64_t end = each * (most + 1);
    std::uint64_t drawn = next() - 1;
    while (drawn >= end) drawn = next() - 1;
    return drawn / each;
  }

 private:
  static constexpr std::uint32_t kModulus = 2147483647;

  std::uint32_t next() {
    const std::uint64_t product = state_ * std::uint64_t{16807};
    const std::uint64_t folded = (product & kModulus) + (product >> 31U);
    state_ = static_cast<std::uint32_t>(folded >= kModulus ? folded - kModulus : folded);
    return state_;
  }

  std::uint32_t state_;
};

/// The first `keep` of a shuffled list of `count` positions. An element is exchanged with one at or
/// before it, so what lies behind the first `keep` never comes back to them, and is not stored.
class ShuffledHead {
 public:
  ShuffledHead(std::uint64_t count, std::uint64_t keep) : count_(count), head_(keep) {
    std::iota(head_.begin(), head_.end(), 0U);
  }

  std::vector<std::uint32_t> shuffle(MinimalStandard& random) {
    if (kMostShuffled / count_ >= count_) {
      shuffle_in_twos(random);
    } else {
      for (std::uint64_t i = 1; i < count_; ++i) exchange(i, random.uniform(i));
    }
    return std::move(head_);
  }

 private:
  /// Two exchanges for each number that is drawn, if numbers are large enough for two.
  void shuffle_in_twos(MinimalStandard& random) {
    std::uint64_t i = 1;
    if (count_ % 2 == 0) {
      exchange(i, random.uniform(1));
      ++i;
    }
    for (; i < count_; i += 2) {
      const std::uint64_t range = i + 1;
      const std::uint64_t drawn = random.uniform(range * (range + 1) - 1);
      exchange(i, drawn / (range + 1));
      exchange(i + 1, drawn % (range + 1));
    }
  }

  void exchange(std::uint64_t i, std::uint64_t with) {
    if (i < head_.size()) {
      std::swap(head_[i], head_[with]);
    } else if (with < head_.size()) {
      head_[with] = static_cast<std::uint32_t>(i);
    }
  }

  const std::uint64_t count_;
  std::vector<std::uint32_t> head_;
};

}  // namespace

std::uint64_t popsparse_count(const Decimal& density, std::uint32_t rows, std::uint32_t columns) {
  const auto share = static_cast<float>(density.value());
  const float kept = share * static_cast<float>(rows) * static_cast<float>(columns);
  const std::uint64_t all = std::uint64_t{rows} * columns;
  return std::min(all, static_cast<std::uint64_t>(std::ceil(kept)));
}

void choose_as_popsparse(std::uint32_t seed, std::uint64_t keep, Mask& mask) {
  const std::uint64_t count = std::uint64_t{mask.grid_rows()} * mask.grid_cols();
  std::vector<bool> kept(count, false);
  if (count > 0) {
    MinimalStandard random(seed);
    for (const std::uint32_t at : ShuffledHead(count, keep).shuffle(random)) kept[at] = true;
  }
  mask.columns.reserve(keep);
  std::uint64_t at = 0;
  for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
    for (std::uint32_t column = 0; column < mask.grid_cols(); ++column, ++at) {
      if (kept[at]) mask.columns.push_back(column);
    }
    mask.offsets.push_back(mask.columns.size());
  }
}

}  // namespace lacuna

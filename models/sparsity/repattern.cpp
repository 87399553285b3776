// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/repattern.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <vector>

#include "models/sparsity/chooser.hpp"

namespace lacuna {
namespace {

Mask shape_of(const Mask& mask) {
  Mask shape = mask;
  shape.offsets.clear();
  shape.columns.clear();
  return shape;
}

std::pair<std::size_t, std::size_t> row_range(const Mask& mask, std::uint32_t row) {
  return {static_cast<std::size_t>(mask.offsets[row]),
          static_cast<std::size_t>(mask.offsets[row + std::size_t{1}])};
}

// Row by row: the columns of `a` and `b` joined by a set operation of two sorted ranges.
template <class Operation>
Mask combine(const Mask& a, const Mask& b, Operation operation) {
  Mask result = shape_of(a);
  result.offsets.push_back(0);
  for (std::uint32_t r = 0; r < a.grid_rows(); ++r) {
    const auto [a_first, a_last] = row_range(a, r);
    const auto [b_first, b_last] = row_range(b, r);
    operation(a.columns.data() + a_first, a.columns.data() + a_last, b.columns.data() + b_first,
              b.columns.data() + b_last, std::back_inserter(result.columns));
    result.offsets.push_back(result.columns.size());
  }
  return result;
}

constexpr auto kUnion = [](auto... ranges) { return std::set_union(ranges...); };
constexpr auto kDifference = [](auto... ranges) { return std::set_difference(ranges...); };

// `count` of the blocks of `mask`, uniformly.
Mask choose_of(const Mask& mask, std::uint64_t count, Random& random) {
  Mask result = shape_of(mask);
  result.offsets.push_back(0);
  Chooser chooser(mask.blocks(), count);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
    const auto [first, last] = row_range(mask, r);
    chosen.resize(last - first + 1);
    const std::uint32_t* end =
        chooser.walk(random, static_cast<std::uint32_t>(last - first), chosen.data());
    for (const std::uint32_t* at = chosen.data(); at != end; ++at) {
      result.columns.push_back(mask.columns[first + *at]);
    }
    result.offsets.push_back(result.columns.size());
  }
  return result;
}

// `count` of the blocks that `mask` does not keep, uniformly.
Mask choose_outside(const Mask& mask, std::uint64_t count, Random& random) {
  const std::uint32_t width = mask.grid_cols();
  Mask result = shape_of(mask);
  result.offsets.push_back(0);
  Chooser chooser(std::uint64_t{mask.grid_rows()} * width - mask.blocks(), count);
  std::vector<std::uint32_t> free;
  std::vector<std::uint32_t> chosen(width + std::size_t{1});
  for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
    const auto [first, last] = row_range(mask, r);
    free.clear();
    std::size_t next = first;
    for (std::uint32_t c = 0; c < width; ++c) {
      if (next < last && mask.columns[next] == c) {
        ++next;
      } else {
        free.push_back(c);
      }
    }
    const std::uint32_t* end =
        chooser.walk(random, static_cast<std::uint32_t>(free.size()), chosen.data());
    for (const std::uint32_t* at = chosen.data(); at != end; ++at) {
      result.columns.push_back(free[*at]);
    }
    result.offsets.push_back(result.columns.size());
  }
  return result;
}

// The scores of the blocks that `mask` keeps (or does not keep); the others are never chosen.
class MaskedScores : public RowScores {
 public:
  MaskedScores(RowScores& scores, const Mask& mask, bool kept)
      : scores_(scores), mask_(mask), kept_(kept) {}

  void rewind() override {
    scores_.rewind();
    row_ = 0;
  }

  void next_row(std::vector<double>& scores) override {
    scores_.next_row(scores);
    const auto [first, last] = row_range(mask_, row_++);
    std::size_t next = first;
    for (std::uint32_t c = 0; c < scores.size(); ++c) {
      const bool here = next < last && mask_.columns[next] == c;
      if (here) ++next;
      if (here != kept_) scores[c] = kNever;
    }
  }

 private:
  RowScores& scores_;
  const Mask& mask_;
  bool kept_;
  std::uint32_t row_ = 0;
};

Mask choose_scored(RowScores& scores, const Mask& mask, bool kept, std::uint64_t count) {
  MaskedScores masked(scores, mask, kept);
  Mask result = shape_of(mask);
  choose_largest(masked, count, result);
  return result;
}

}  // namespace

Mask repattern(const Mask& mask, const Repattern& step, std::uint64_t seed, RowScores* weights,
               RowScores* gradients) {
  const std::uint64_t all = std::uint64_t{mask.grid_rows()} * mask.grid_cols();
  std::uint64_t count = std::min(step.count, mask.blocks());
  // Random growth may not take back what was just dropped.
  if (step.regrow == Repattern::Regrow::random) count = std::min(count, all - mask.blocks());
  Random random(seed);
  Mask left;
  if (step.drop == Repattern::Drop::random) {
    left = combine(mask, choose_of(mask, count, random), kDifference);
  } else {
    assert(weights != nullptr);
    left = choose_scored(*weights, mask, true, mask.blocks() - count);
  }
  if (step.regrow == Repattern::Regrow::random) {
    return combine(left, choose_outside(mask, count, random), kUnion);
  }
  assert(gradients != nullptr);
  return combine(left, choose_scored(*gradients, left, false, count), kUnion);
}

}  // namespace lacuna

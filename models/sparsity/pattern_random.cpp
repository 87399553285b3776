// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "models/sparsity/bulk_chooser.hpp"
#include "models/sparsity/chooser.hpp"
#include "models/sparsity/pattern_builder.hpp"
#include "models/sparsity/popsparse_mask.hpp"
#include "models/sparsity/row_chooser.hpp"

namespace lacuna {
namespace {

// Fills `mask`, of which only the shape is set, with `keep` of its blocks.
void choose_blocks(Random& random, std::uint64_t keep, Mask& mask) {
  const std::uint64_t positions = std::uint64_t{mask.grid_rows()} * mask.grid_cols();
  if (positions >= kBulkPositions) return choose_in_bulk(random, keep, mask);
  Chooser chooser(positions, keep);
  mask.columns.resize(keep + 1);  // one more, which a chooser may touch
  std::uint32_t* const begin = mask.columns.data();
  std::uint32_t* out = begin;
  for (std::uint32_t r = 0; r < mask.grid_rows(); ++r) {
    out = chooser.walk(random, mask.grid_cols(), out);
    mask.offsets.push_back(static_cast<std::uint64_t>(out - begin));
  }
  mask.columns.resize(keep);
}

// An n:m pattern, before it is known along which axis its groups lie.
struct Groups {
  std::uint32_t keep = 0;
  std::uint32_t of = 1;
  bool first = false;  // the first ones of each group, not random ones
};

Mask fill_groups(const Groups& groups, Mask mask, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> row(groups.keep + std::size_t{1});
  for (std::uint32_t r = 0; r < mask.rows; ++r) {
    for (std::uint64_t at = 0; at < mask.cols; at += groups.of) {
      const auto size = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(groups.of, mask.cols - at));  // the last group may be cut
      const std::uint32_t keep = std::min(groups.keep, size);
      if (groups.first) {
        std::iota(row.begin(), row.end(), 0U);
      } else {
        Chooser(size, keep).walk(random, size, row.data());
      }
      for (std::uint32_t i = 0; i < keep; ++i) {
        mask.columns.push_back(static_cast<std::uint32_t>(at) + row[i]);
      }
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

// Shares `amount` in proportion to `weights`: whole parts, then one more for the largest
// remainders, the earlier first on ties.
std::vector<std::uint64_t> share(std::uint64_t amount, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint64_t> parts(weights.size());
  std::vector<double> remainders(weights.size());
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double exact = static_cast<double>(amount) * weights[i] / sum;
    parts[i] = static_cast<std::uint64_t>(exact);
    remainders[i] = exact - std::floor(exact);
    given += parts[i];
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&remainders](std::size_t a, std::size_t b) {
    return remainders[a] > remainders[b];
  });
  for (std::size_t i = 0; given < amount; i = (i + 1) % order.size(), ++given) ++parts[order[i]];
  return parts;
}

// Budgets by rank: `kept` in all, none above `most`. What is cut from the full ones is shared
// among the others.
std::vector<std::uint64_t> row_budgets(std::uint64_t kept, std::uint32_t count, std::uint64_t most,
                                       double alpha) {
  std::vector<std::uint64_t> budgets(count, 0);
  std::vector<std::size_t> open(count);
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (std::uint64_t left = kept; left != 0;) {
    std::vector<double> weights;
    weights.reserve(open.size());
    for (const std::size_t r : open) {
      weights.push_back(std::pow(static_cast<double>(r + 1), -alpha));
    }
    const std::vector<std::uint64_t> more = share(left, weights);
    left = 0;
    std::vector<std::size_t> still_open;
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::uint64_t& budget = budgets[open[i]];
      budget += more[i];
      if (budget > most) left += std::exchange(budget, most) - most;
      if (budget < most) still_open.push_back(open[i]);
    }
    open = std::move(still_open);
  }
  return budgets;
}

Mask fill_rows(std::uint64_t kept, double alpha, Mask mask, std::uint64_t seed) {
  const std::vector<std::uint64_t> budgets = row_budgets(kept, mask.rows, mask.cols, alpha);
  Random random(seed);
  std::vector<std::uint32_t> ranks(mask.rows);
  std::iota(ranks.begin(), ranks.end(), 0U);
  for (std::uint32_t i = mask.rows - 1; i >= 1; --i) {
    std::swap(ranks[i], ranks[random.bounded(i + std::uint64_t{1})]);
  }
  mask.columns.resize(kept + 1);
  std::uint32_t* const begin = mask.columns.data();
  std::uint32_t* out = begin;
  const auto fill = [&](const auto& walk) {
    for (std::uint32_t r = 0; r < mask.rows; ++r) {
      out = walk(budgets[ranks[r]]);
      mask.offsets.push_back(static_cast<std::uint64_t>(out - begin));
    }
  };
  constexpr std::uint32_t kLongRow = 4096;
  if (mask.cols >= kLongRow && std::uint64_t{mask.rows} * mask.cols >= kBulkPositions) {
    RowChooser chooser(random);
    fill([&](std::uint64_t keep) { return chooser.walk(mask.cols, keep, out); });
  } else {
    fill([&](std::uint64_t keep) { return Chooser(mask.cols, keep).walk(random, mask.cols, out); });
  }
  mask.columns.resize(kept);
  return mask;
}

// The mask with rows and columns exchanged, to be filled along the other axis.
Mask turned(const Mask& mask) {
  Mask other = mask;
  std::swap(other.rows, other.cols);
  return other;
}

// So many blocks of `mask`, by the rule that `mask_rule` names.
MaskBuilder prepare_counted(PatternRequest& request, Mask mask) {
  const std::uint64_t positions = std::uint64_t{mask.grid_rows()} * mask.grid_cols();
  const bool published = request.choice("mask_rule", {"uniform", "popsparse"}) == 1;
  const bool has_seed = request.has("rule_seed");
  const auto rule_seed =
      static_cast<std::uint32_t>(request.integer("rule_seed", kPopsparseSeed, 0, 0xffffffffU));
  std::uint64_t keep = request.kept(positions);
  if (published) {
    if (request.has("round") && request.rounding() != Rounding::ceil) {
      request.fail("E214", "pattern_args", "round", "ceil or none with mask_rule=popsparse");
    }
    if (positions > kMostShuffled) {
      request.fail("E214", "pattern", fmt::format("{} positions", positions),
                   fmt::format("at most {} with mask_rule=popsparse", kMostShuffled));
    }
    if (request.spec.density) {
      keep = popsparse_count(*request.spec.density, mask.grid_rows(), mask.grid_cols());
    }
  } else if (has_seed) {
    request.fail("E214", "pattern_args", "rule_seed", "no rule_seed without mask_rule=popsparse");
  }
  if (!request.diagnostics.empty()) return {};
  return [=, mask = std::move(mask)](std::uint64_t seed) {
    Mask result = mask;
    if (published) {
      choose_as_popsparse(rule_seed, keep, result);
    } else {
      Random random(seed);
      choose_blocks(random, keep, result);
    }
    return result;
  };
}

}  // namespace

MaskBuilder prepare_dense(PatternRequest& request) {
  return
      [rows = request.rows, cols = request.cols](std::uint64_t) { return dense_mask(rows, cols); };
}

MaskBuilder prepare_unstructured(PatternRequest& request) {
  return prepare_counted(request, request.empty_mask(1, 1));
}

MaskBuilder prepare_block(PatternRequest& request) {
  const PatternSpec& spec = request.spec;
  request.check_blocks(spec.block_rows, spec.block_cols, request.flag("pad"));
  return prepare_counted(request, request.empty_mask(spec.block_rows, spec.block_cols));
}

MaskBuilder prepare_bernoulli(PatternRequest& request) {
  const PatternSpec& spec = request.spec;
  request.check_blocks(spec.block_rows, spec.block_cols, false);
  if (!request.diagnostics.empty()) return {};
  const auto threshold =
      static_cast<std::uint64_t>(std::floor(spec.density->value() * 0x1p53 + 0.5));
  return
      [threshold, mask = request.empty_mask(spec.block_rows, spec.block_cols)](std::uint64_t seed) {
        Mask result = mask;
        Random random(seed);
        const std::uint32_t width = result.grid_cols();
        if (std::uint64_t{result.grid_rows()} * width >= kBulkPositions) {
          threshold_in_bulk(random, threshold, result);
          return result;
        }
        std::size_t kept = 0;
        for (std::uint32_t r = 0; r < result.grid_rows(); ++r) {
          result.columns.resize(kept + width);
          for (std::uint32_t c = 0; c < width; ++c) {
            result.columns[kept] = c;  // overwritten by the next one if it is not kept
            kept += (random.next() >> 11U) < threshold ? 1 : 0;
          }
          result.offsets.push_back(kept);
        }
        result.columns.resize(kept);
        return result;
      };
}

MaskBuilder prepare_n_of_m(PatternRequest& request) {
  constexpr std::uint64_t kMostOf = 65536;
  Groups groups;
  groups.of = static_cast<std::uint32_t>(request.integer("of", std::nullopt, 1, kMostOf));
  groups.keep = static_cast<std::uint32_t>(request.integer("keep", std::nullopt, 0, kMostOf));
  groups.first = request.choice("pos", {"random", "first"}) == 1;
  const bool along_m = request.choice("axis", {"k", "m"}) == 1;
  const bool padded = request.flag("pad");
  if (request.diagnostics.empty() && groups.keep > groups.of) {
    request.fail("E214", "pattern_args",
                 std::to_string(groups.keep) + " of " + std::to_string(groups.of),
                 "N of M with N at most M, such as 2:4");
  }
  if (along_m) {
    request.check_blocks(groups.of, 1, padded);
  } else {
    request.check_blocks(1, groups.of, padded);
  }
  if (!request.diagnostics.empty()) return {};
  const std::uint64_t length = along_m ? request.rows : request.cols;
  const std::uint64_t lines = along_m ? request.cols : request.rows;
  const std::uint64_t in_line = (length + groups.of - 1) / groups.of * groups.keep;
  request.check_size(lines * length, lines * std::min(in_line, length));
  if (!request.diagnostics.empty()) return {};
  return [groups, along_m, mask = request.empty_mask(1, 1)](std::uint64_t seed) {
    if (along_m) return fill_groups(groups, turned(mask), seed).transposed();
    return fill_groups(groups, mask, seed);
  };
}

MaskBuilder prepare_rows(PatternRequest& request) {
  constexpr double kMostAlpha = 64;
  const double alpha = request.real("alpha", 1, 0, kMostAlpha);
  const bool along_cols = request.choice("axis", {"row", "col"}) == 1;
  const std::uint64_t keep = request.kept(std::uint64_t{request.rows} * request.cols);
  if (!request.diagnostics.empty()) return {};
  return [keep, alpha, along_cols, mask = request.empty_mask(1, 1)](std::uint64_t seed) {
    if (along_cols) return fill_rows(keep, alpha, turned(mask), seed).transposed();
    return fill_rows(keep, alpha, mask, seed);
  };
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/activation_mask.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "models/sparsity/bulk_chooser.hpp"
#include "sim/base/random.hpp"

namespace lacuna {
namespace {

constexpr double kScale = 0x1p53;

// Keeps each element of a row whose draw of 53 bits is below the row's threshold.
Mask draw_rows(const std::vector<std::uint64_t>& thresholds, std::uint32_t cols, Random& random) {
  Mask mask;
  mask.rows = static_cast<std::uint32_t>(thresholds.size());
  mask.cols = cols;
  mask.offsets.assign(1, 0);
  for (const std::uint64_t threshold : thresholds) {
    for (std::uint32_t c = 0; c < cols; ++c) {
      if ((random.next() >> 11U) < threshold) mask.columns.push_back(c);
    }
    mask.offsets.push_back(mask.columns.size());
  }
  return mask;
}

std::uint64_t threshold_of(double density) {
  return static_cast<std::uint64_t>(std::floor(density * kScale + 0.5));
}

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double normal_quantile(double p) {
  // Bisection: slow, plain, and as exact as the distribution function.
  double low = -40;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

Mask bernoulli_mask(std::uint32_t rows, std::uint32_t cols, const Decimal& density,
                    std::uint64_t seed) {
  Random random(seed);
  if (std::uint64_t{rows} * cols >= kBulkPositions) {
    Mask mask;
    mask.rows = rows;
    mask.cols = cols;
    mask.offsets.assign(1, 0);
    threshold_in_bulk(random, threshold_of(density.value()), mask);
    return mask;
  }
  const std::vector<std::uint64_t> thresholds(rows, threshold_of(density.value()));
  return draw_rows(thresholds, cols, random);
}

Mask channel_mask(std::uint32_t rows, std::uint32_t cols, const Decimal& density,
                  std::uint64_t seed, double tau) {
  const double d = density.value();
  if (d <= 0 || d >= 1) return bernoulli_mask(rows, cols, density, seed);
  Random random(seed);
  const double mean = std::sqrt(1 + tau * tau) * normal_quantile(d);
  std::vector<std::uint64_t> thresholds(rows);
  for (std::uint64_t& threshold : thresholds) {
    threshold = threshold_of(normal_cdf(mean + tau * random.gauss()));
  }
  return draw_rows(thresholds, cols, random);
}

}  // namespace lacuna

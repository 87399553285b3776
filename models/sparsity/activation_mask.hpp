// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/sparsity/decimal.hpp"
#include "models/sparsity/mask.hpp"

namespace lacuna {

/// Each element of a rows x cols operand is there with probability `density`, on its own.
Mask bernoulli_mask(std::uint32_t rows, std::uint32_t cols, const Decimal& density,
                    std::uint64_t seed);

/// As activations behind a ReLU whose channels, the rows, have different means. Channel c has the
/// density Phi(mu_c), mu_c = sqrt(1 + tau^2) Phi^-1(density) + tau g_c with normal g_c. So the
/// expected mean is `density`. Its elements are independent. All g_c are drawn first.
Mask channel_mask(std::uint32_t rows, std::uint32_t cols, const Decimal& density,
                  std::uint64_t seed, double tau = 0.5);

/// The standard normal distribution function and its inverse, which is finite inside (0, 1).
double normal_cdf(double x);
double normal_quantile(double p);

}  // namespace lacuna

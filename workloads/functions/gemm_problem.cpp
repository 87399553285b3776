// SPDX-License-Identifier: Apache-2.0
#include "workloads/functions/gemm_problem.hpp"

#include <cmath>

#include "models/common/fp16.hpp"
#include "models/common/fp8.hpp"
#include "models/sparsity/mask.hpp"
#include "sim/base/mix.hpp"

namespace lacuna {
namespace {

/// Standard normal by Box-Muller: a function of seed and position, like operand_value().
double normal_value(std::uint64_t seed, std::uint64_t p) {
  constexpr double kTwoPi = 6.283185307179586;
  const std::uint64_t first = mix(mix(seed) + 2 * p);
  const std::uint64_t second = mix(mix(seed) + 2 * p + 1);
  const double radius = static_cast<double>((first >> 11U) + 1) * 0x1p-53;  // in (0, 1]
  const double angle = static_cast<double>(second >> 11U) * 0x1p-53;
  return std::sqrt(-2 * std::log(radius)) * std::cos(kTwoPi * angle);
}

float value_of(const GemmProblem& problem, std::uint64_t seed, std::uint64_t p, bool weight) {
  if (problem.given != nullptr) return problem.given->at(seed).at(p);
  if (problem.sigma == 0) return static_cast<float>(operand_value(seed, p, weight));
  const auto value = static_cast<float>(problem.sigma * normal_value(seed, p));
  if (problem.dtype == DType::fp8) return from_quarter(to_quarter(value));
  return problem.dtype == DType::fp16 ? to_float(to_half(value)) : value;
}

/// Hands each product of a kept weight and a number of X, `x` row-major, to `take(place in Y,
/// product)`; `weight` gives the weight at a position.
template <class Number, class Weight, class Take>
void for_each_product(const GemmProblem& problem, const std::vector<Number>& x,
                      const Weight& weight, const Take& take) {
  const Mask weights =
      problem.mask == nullptr ? dense_mask(problem.m, problem.k) : problem.mask->elements();
  const std::uint64_t n = problem.n;
  for (std::uint64_t row = 0; row < problem.m; ++row) {
    for (std::uint64_t i = weights.offsets[row]; i < weights.offsets[row + 1]; ++i) {
      const std::uint64_t column = weights.columns[i];
      const auto w = weight(row * problem.k + column);
      for (std::uint64_t t = 0; t < n; ++t) take(row * n + t, w * x[column * n + t]);
    }
  }
}

}  // namespace

float weight_value(const GemmProblem& problem, std::uint64_t p) {
  return value_of(problem, problem.seed, p, true);
}

float input_value(const GemmProblem& problem, std::uint64_t p) {
  return value_of(problem, problem.seed + 1 + problem.x_seed, p, false);
}

RealProduct real_product(const GemmProblem& problem) {
  std::vector<double> x(std::uint64_t{problem.k} * problem.n);
  for (std::uint64_t p = 0; p < x.size(); ++p) x[p] = input_value(problem, p);
  RealProduct product;
  product.y.assign(std::uint64_t{problem.m} * problem.n, 0);
  product.magnitude = product.y;
  const auto weight = [&](std::uint64_t p) -> double { return weight_value(problem, p); };
  for_each_product(problem, x, weight, [&](std::uint64_t at, double term) {
    product.y[at] += term;
    product.magnitude[at] += std::abs(term);
  });
  return product;
}

std::int32_t operand_value(std::uint64_t seed, std::uint64_t p, bool stored_weight) {
  const auto value = static_cast<std::int32_t>(mix(seed + p) >> 61U) - 4;
  return value == 0 && stored_weight ? 4 : value;
}

std::vector<std::int64_t> reference_product(const GemmProblem& problem) {
  std::vector<std::int64_t> x(std::uint64_t{problem.k} * problem.n);
  for (std::uint64_t p = 0; p < x.size(); ++p) {
    x[p] = operand_value(problem.seed + 1 + problem.x_seed, p, false);
  }
  std::vector<std::int64_t> y(std::uint64_t{problem.m} * problem.n, 0);
  const auto weight = [&](std::uint64_t p) { return operand_value(problem.seed, p, true); };
  for_each_product(problem, x, weight, [&](std::uint64_t at, std::int64_t term) { y[at] += term; });
  return y;
}

}  // namespace lacuna

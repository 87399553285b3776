// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/gemm_problem.hpp"

#include "sim/base/mix.hpp"

namespace lacuna {

std::int32_t operand_value(std::uint64_t seed, std::uint64_t p, bool stored_weight) {
  const auto value = static_cast<std::int32_t>(mix(seed + p) >> 61U) - 4;
  return value == 0 && stored_weight ? 4 : value;
}

std::vector<std::int64_t> reference_product(const GemmProblem& problem) {
  const Mask weights =
      problem.mask == nullptr ? dense_mask(problem.m, problem.k) : problem.mask->elements();
  const std::uint64_t n = problem.n;
  std::vector<std::int32_t> x(problem.k * n);
  for (std::uint64_t p = 0; p < x.size(); ++p) x[p] = operand_value(problem.seed + 1, p, false);
  std::vector<std::int64_t> y(problem.m * n, 0);
  for (std::uint32_t row = 0; row < problem.m; ++row) {
    for (std::uint64_t i = weights.offsets[row]; i < weights.offsets[row + 1]; ++i) {
      const std::uint64_t column = weights.columns[i];
      const std::int64_t w =
          operand_value(problem.seed, std::uint64_t{row} * problem.k + column, true);
      for (std::uint64_t t = 0; t < n; ++t) y[row * n + t] += w * x[column * n + t];
    }
  }
  return y;
}

}  // namespace lacuna

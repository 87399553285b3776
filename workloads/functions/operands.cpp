// SPDX-License-Identifier: Apache-2.0
#include "workloads/functions/operands.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/functions/gemm_problem.hpp"

namespace lacuna {

double RealOperands::operator()(std::uint64_t seed, std::uint64_t p) const {
  if (given != nullptr) {
    // tables are filled up to whole parts of a tile
    const std::vector<float>& numbers = given->at(seed);
    return p < numbers.size() ? numbers[p] : 0;
  }
  if (sigma == 0) return operand_value(seed, p, false) / 4.0;
  GemmProblem problem;
  problem.dtype = type;
  problem.sigma = sigma;
  problem.seed = seed;
  return weight_value(problem, p);
}

double RealOperands::growth(unsigned factors) const {
  return std::pow(std::max(sigma, 1.0), factors);
}

void compare_element(Comparison& comparison, double found, double exact, DType type,
                     double roundings, double scale) {
  constexpr double kLargestHalf = 65504;
  const bool single = type == DType::fp32;
  const double unit = single ? 0x1p-24 : 0x1p-11;
  ++comparison.compared;
  if (!std::isfinite(found)) {
    ++comparison.not_finite;
    if (single || std::abs(exact) < kLargestHalf) ++comparison.wrong;
    return;
  }
  const double error = std::abs(found - exact);
  comparison.errors += found - exact;
  comparison.squares += error * error;
  const double least = single ? 0 : 0x1p-13;  // subnormal halves are 2^-24 apart
  if (!(error <= roundings * unit * std::max({std::abs(exact), scale, least}))) ++comparison.wrong;
  comparison.largest_error = std::max(comparison.largest_error, error);
}

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/functions/given_operands.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// Y[m x n] = W[m x k] X[k x n] as a planner takes it. Only the pattern of W is needed for time;
/// with values, W and X are those of weight_value() and input_value().
struct GemmProblem {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
  DType dtype = DType::fp16;
  Partials partials = Partials::automatic;
  const Mask* mask = nullptr;  // of W; null: W is dense and is multiplied as a dense matrix
  bool transposed = false;     // W is the transpose of a matrix whose product is planned with it
  bool values = false;         // carry numbers and compute the product
  std::uint64_t seed = 0;      // of the values; W uses seed, X uses seed + 1 + x_seed
  std::uint64_t x_seed = 0;
  double sigma = 0;                      // of normally distributed values; 0: small integers
  const GivenOperands* given = nullptr;  // in place of both
};

/// The small integer at position p (row-major) of an operand with this seed, in [-4, 3].
/// A stored weight is never zero: 0 becomes 4.
std::int32_t operand_value(std::uint64_t seed, std::uint64_t p, bool stored_weight);

/// The element at position p (row-major) of W, if it is stored, and of X, as the operand's type
/// holds it: an operand_value(), or drawn from a normal distribution of mean 0.
float weight_value(const GemmProblem& problem, std::uint64_t p);
float input_value(const GemmProblem& problem, std::uint64_t p);

/// The product of these values in double precision, row-major m x n. Beside each element stands the
/// sum of the magnitudes of its products, which bounds what rounding can do.
struct RealProduct {
  std::vector<double> y;
  std::vector<double> magnitude;
};
RealProduct real_product(const GemmProblem& problem);

/// The product in exact integer arithmetic, row-major m x n: the third opinion on both machines.
std::vector<std::int64_t> reference_product(const GemmProblem& problem);

}  // namespace lacuna

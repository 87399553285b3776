// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/functions/given_operands.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Numbers of a result beside those of the reference.
struct Comparison {
  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;
  double largest_error = 0;  // absolute
  double squares = 0;        // sum of the squares of the errors
  double errors = 0;         // sum of the errors
  std::uint64_t not_finite = 0;
  std::vector<double> results;  // by position, if operands were given

  void keep(std::uint64_t position, double found) {
    if (results.size() <= position) results.resize(position + 1, 0);
    results[position] = found;
  }
};

/// The numbers of operands whose results are not exact: a quarter of operand_value(), or, with a
/// sigma, drawn from a normal distribution; as `type` holds them.
struct RealOperands {
  double sigma = 0;
  DType type = DType::fp32;
  const GivenOperands* given = nullptr;

  /// At position p of the operand with this seed.
  double operator()(std::uint64_t seed, std::uint64_t p) const;

  /// How much larger a product of `factors` operands is than one of operands near 1.
  double growth(unsigned factors) const;
};

/// A quarter of operand_value().
inline double real_operand(std::uint64_t seed, std::uint64_t p) { return RealOperands{}(seed, p); }

/// Counts `found` as compared, and as wrong if it is further from `exact` than `roundings`
/// roundings of `type` explain. Each is 2^-11 (FP16) or 2^-24 (FP32) of `scale` or of the result,
/// whichever is larger, or of the least normal number of FP16. A result too large for its type is
/// no mistake if it is infinite.
void compare_element(Comparison& comparison, double found, double exact, DType type,
                     double roundings, double scale);

}  // namespace lacuna

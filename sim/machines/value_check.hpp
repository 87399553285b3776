// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "sim/report/result.hpp"
#include "workloads/functions/gemm_problem.hpp"

namespace lacuna {

/// The element of the product that a machine holds.
using FoundElement = std::function<double(std::uint32_t row, std::uint32_t column)>;

/// How far a machine may be from the product in FP64 of the same operands.
struct ErrorBound {
  double unit = 0;      // the relative error of one rounding
  double absolute = 0;  // what results near zero may lose
};

/// Compares every element with small integers, whose sums are exact until `allowed` says otherwise:
/// the error that an exact sum may have.
ValueCheck check_integers(const GemmProblem& problem, const FoundElement& found,
                          const std::function<double(double exact)>& allowed);

/// Compares every element with the product in FP64. An element is wrong if it is off by more than
/// sixteen roundings of the sum of its products' magnitudes. One that is not finite is wrong if no
/// overflow was counted: whoever rounds counts overflows.
ValueCheck check_reals(const GemmProblem& problem, const FoundElement& found,
                       const ErrorBound& bound);

/// What a check says in a line.
std::string describe_values(const ValueCheck& check);

}  // namespace lacuna

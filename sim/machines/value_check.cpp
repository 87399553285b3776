// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/value_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lacuna {
namespace {

constexpr double kRoundings = 16;  // of a sum of magnitudes: several deviations of a random walk

/// Collects the errors of finite elements.
class ErrorSum {
 public:
  explicit ErrorSum(ValueCheck& check) : check_(check) {}

  void add(double found, double exact, double allowed) {
    const double error = std::abs(found - exact);
    ++check_.compared;
    if (!std::isfinite(found)) {
      ++check_.not_finite;
      return;
    }
    if (!(error <= allowed)) ++check_.wrong;
    ++finite_;
    squares_ += error * error;
    check_.largest_error = std::max(check_.largest_error, error);
  }

  void finish() {
    if (finite_ > 0) check_.rms_error = std::sqrt(squares_ / static_cast<double>(finite_));
  }

 private:
  ValueCheck& check_;
  double squares_ = 0;
  std::uint64_t finite_ = 0;
};

}  // namespace

ValueCheck check_integers(const GemmProblem& problem, const FoundElement& found,
                          const std::function<double(double exact)>& allowed) {
  const std::vector<std::int64_t> expected = reference_product(problem);
  ValueCheck check;
  ErrorSum errors(check);
  for (std::uint32_t row = 0; row < problem.m; ++row) {
    for (std::uint32_t column = 0; column < problem.n; ++column) {
      const auto exact = static_cast<double>(expected[std::uint64_t{row} * problem.n + column]);
      errors.add(found(row, column), exact, allowed(exact));
    }
  }
  errors.finish();
  check.wrong += check.not_finite;
  return check;
}

ValueCheck check_reals(const GemmProblem& problem, const FoundElement& found,
                       const ErrorBound& bound) {
  const RealProduct exact = real_product(problem);
  ValueCheck check;
  check.sigma = problem.sigma;
  ErrorSum errors(check);
  for (std::uint32_t row = 0; row < problem.m; ++row) {
    for (std::uint32_t column = 0; column < problem.n; ++column) {
      const std::uint64_t place = std::uint64_t{row} * problem.n + column;
      errors.add(found(row, column), exact.y[place],
                 kRoundings * bound.unit * exact.magnitude[place] + bound.absolute);
    }
  }
  errors.finish();
  return check;
}

std::string describe_values(const ValueCheck& check) {
  if (check.sigma == 0) return fmt::format("{} values equal the reference product", check.compared);
  const std::string error = check.finite() == 0 ? "none is finite, so none has an error"
                                                : fmt::format("error at most {:.4g}, RMS {:.4g}",
                                                              check.largest_error, check.rms_error);
  return fmt::format(
      "{} values of normal:{} against FP64: {}; {} overflows, {} underflows, {} not finite",
      check.compared, check.sigma, error, check.overflows, check.underflows, check.not_finite);
}

}  // namespace lacuna

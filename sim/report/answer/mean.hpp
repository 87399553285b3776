// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A mean and half the width of its 95 % interval, by Student's t of independent draws; the half
/// is missing of a single value. The least and the most of them.
struct Mean {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> half;
  double least = 0;
  double most = 0;
};

Mean mean_of(const std::vector<double>& values);

/// The t of a 95 % interval with `freedom` >= 1 degrees of freedom.
double student_t95(std::size_t freedom);

/// "8333 +- 3257", or the mean alone; numbers with four digits, `scale` times as much.
std::string mean_text(const std::optional<Mean>& mean, double scale = 1);

/// Runs that differ in their seed alone, in the order of the first of each.
using SeedGroup = std::vector<const RunRecord*>;
std::vector<SeedGroup> seed_groups(const Runs& records);

}  // namespace lacuna

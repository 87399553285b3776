// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runs.hpp"

namespace lacuna {

/// What a point about a wafer's kernels needs: simulations of which the fastest counts, or why
/// there are none.
struct WaferRecipe {
  std::string family;
  std::vector<ValidationRun> runs;
  std::string unsupported;
  std::string unread;  // PointWords::unread() where there are runs
};

/// The recipe of a point that gives its shape as parameters; nothing if its system is no wafer.
std::optional<WaferRecipe> wafer_recipe(const ValidationPoint& point);

}  // namespace lacuna

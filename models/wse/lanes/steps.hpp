// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "models/wse/lanes/shape.hpp"

namespace lacuna::wse::lanes {

/// The widths that were compiled and that this machine can, the widest last.
std::vector<unsigned> step_widths();
StepFunction step_function(unsigned shape, unsigned width);

}  // namespace lacuna::wse::lanes

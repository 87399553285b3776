// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/step_of.hpp"

namespace lacuna::wse::lanes {

StepFunction step_of_64(unsigned shape) { return step_of<64>(shape); }

}  // namespace lacuna::wse::lanes

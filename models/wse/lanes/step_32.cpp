// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/step_of.hpp"

namespace lacuna::wse::lanes {

StepFunction step_of_32(unsigned shape) { return step_of<32>(shape); }

}  // namespace lacuna::wse::lanes

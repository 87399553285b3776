// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/shapes.hpp"
#include "models/wse/lanes/step.hpp"

namespace lacuna::wse::lanes {

StepFunction step_of_64(unsigned shape) {
#define LACUNA_STEP(shape) &Stepper<shape, 64>::step,
  static constexpr StepFunction kSteps[] = {LACUNA_LANE_SHAPES(LACUNA_STEP)};
#undef LACUNA_STEP
  return kSteps[shape];
}

}  // namespace lacuna::wse::lanes

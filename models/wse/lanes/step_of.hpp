// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/lanes/shapes.hpp"
#include "models/wse/lanes/step.hpp"

namespace lacuna::wse::lanes {

/// The cycle of a declared shape.
template <unsigned W>
StepFunction step_of(unsigned shape) {
  StepFunction found = nullptr;
  each<kShapeCount>([&](auto number) {
    constexpr int kNumber = decltype(number)::value;
    if (shape == kNumber) found = &Stepper<*kShapes[kNumber].shape, W>::step;
  });
  return found;
}

}  // namespace lacuna::wse::lanes

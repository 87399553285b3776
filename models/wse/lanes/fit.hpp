// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "models/wse/lanes/shape.hpp"

namespace lacuna::wse::lanes {

/// A declared shape that has all that a program needs.
struct Fit {
  const Shape* shape = nullptr;  // null: none has, see why
  unsigned number = 0;
  std::array<int, kMostClasses> class_of{};  // of the shape, by the program's
  std::string why;
};

/// The one with the fewest slots and ways. Programs are not recognised: a shape fits by inclusion.
Fit tightest_shape(const Shape& needs);

}  // namespace lacuna::wse::lanes

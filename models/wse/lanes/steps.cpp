// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/steps.hpp"

namespace lacuna::wse::lanes {

std::vector<unsigned> step_widths() {
  std::vector<unsigned> widths = {16};
#ifdef LACUNA_WIDE_LANES
  if (__builtin_cpu_supports("avx2")) widths.push_back(32);
  if (__builtin_cpu_supports("avx512bw")) widths.push_back(64);
#endif
  return widths;
}

StepFunction step_function(unsigned shape, unsigned width) {
#ifdef LACUNA_WIDE_LANES
  if (width == 64) return step_of_64(shape);
  if (width == 32) return step_of_32(shape);
#endif
  return width == 16 ? step_of_16(shape) : nullptr;
}

}  // namespace lacuna::wse::lanes

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/product_types.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"

namespace lacuna::ipu {

DType partials_of(Partials asked, DType automatic) {
  switch (asked) {
    case Partials::automatic:
      return automatic;
    case Partials::fp16:
      return DType::fp16;
    case Partials::fp32:
      return DType::fp32;
    case Partials::int32:
      break;
  }
  throw UnsupportedError("an IPU accumulates in fp16 or fp32, not in int32");
}

Types dense_types(const PlannerParams& planner, const GemmProblem& problem) {
  const bool single = problem.dtype == DType::fp32;
  Types types{problem.dtype,
              partials_of(problem.partials, single ? DType::fp32 : planner.partials.value())};
  if (single && types.partials == DType::fp16) {
    throw UnsupportedError("an IPU accumulates fp32 products in fp32, not in fp16");
  }
  return types;
}

Types static_types(const GemmProblem& problem) {
  if (problem.dtype == DType::fp8) {
    throw UnsupportedError("static sparse products are of fp16 or fp32, not of fp8");
  }
  const Types types{problem.dtype, partials_of(problem.partials, problem.dtype)};
  if (types.partials != types.data) {
    throw UnsupportedError(
        fmt::format("static sparse products of {} accumulate in the same type, not in {}",
                    word(types.data), word(types.partials)));
  }
  return types;
}

}  // namespace lacuna::ipu

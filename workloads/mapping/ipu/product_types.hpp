// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/functions/gemm_problem.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna::ipu {

/// The type of partial sums that is asked for, or `automatic`. UnsupportedError if a tile has none.
DType partials_of(Partials asked, DType automatic);

/// The types that a dense and a static product are computed in. UnsupportedError if there are none.
Types dense_types(const PlannerParams& planner, const GemmProblem& problem);
Types static_types(const GemmProblem& problem);

}  // namespace lacuna::ipu

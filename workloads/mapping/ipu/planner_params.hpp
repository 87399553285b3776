// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/chip_params.hpp"
#include "sim/base/parameter.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// How products are planned.
struct PlannerParams : ParameterSet {
  Param<double> available_memory =
      param(this, "available_memory", 0.6, range(0.01, 1.0), "",
            "Part of a tile's memory that a plan may use; Poplar's availableMemoryProportion.");
  Param<double> bucket_oversize =
      param(this, "bucket_oversize", 0.3, range(0.0, 10.0), "",
            "What buckets of a dynamic pattern can hold beyond the mean; PopSparse's "
            "metaInfoBucketOversizeProportion.");
  Param<DType> partials = param(this, "partials", DType::fp16,
                                Choices<DType>{{"fp16", DType::fp16}, {"fp32", DType::fp32}},
                                "Accumulation of dense fp16 products that do not ask for one.");
  Param<bool> serial_columns =
      flag(this, "serial_columns", false,
           "Run sparse products that do not fit in steps over their columns; PopSparse has no such "
           "plan.");
};

/// What the planners need to know of the chip.
Target make_target(const ChipParams& chip, const PlannerParams& planner);

}  // namespace lacuna::ipu

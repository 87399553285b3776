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
  Param<unsigned> one_stage_depth =
      param(this, "one_stage_depth", 15U, range(1U, 65536U), "partials",
            "Partials that a dense product sums at once; more take two stages, as in poplin.");
  Param<unsigned> two_stage_depth =
      param(this, "two_stage_depth", 124U, range(1U, 65536U), "partials",
            "Partials that a dense product sums in two stages; more take three, as in poplin.");
  Param<bool> staged_estimate =
      flag(this, "staged_estimate", false,
           "Choose dense plans by an estimate that sums partials in stages; the regression values "
           "of the vendor's planner have one.");
  Param<bool> long_fp32_passes = flag(
      this, "long_fp32_passes", true,
      "Passes of dense FP32 products take the bundles of PopSparse's estimator, not poplin's.");
  Param<bool> lone_pairs =
      flag(this, "lone_pairs", true,
           "The partner of a lone receiver of gathered rows listens along, for double width.");
  Param<bool> wide_sums =
      flag(this, "wide_sums", true, "Reductions of static products use accumulations of 128 bits.");
  Param<bool> order_elements =
      flag(this, "order_elements", true, "Put sparse elements into the order of a static plan.");
  Param<bool> copy_gathered =
      flag(this, "copy_gathered", true, "Copy gathered rows to where block codelets read them.");
  Param<bool> order_output =
      flag(this, "order_output", true, "Put the results of blocks into rows, element by element.");
  Param<unsigned> home_sums =
      param(this, "home_sums", 16U, range(0U, 4294967295U), "elements",
            "Static results of which a tile has no more than this are summed where they belong, "
            "larger ones where their partials are, and moved; fitted.");
  Param<bool> copy_results =
      flag(this, "copy_results", true, "Copy static results that were moved to their place.");
  Param<unsigned> static_parts =
      param(this, "static_parts", 0U, range(0U, 32U), "parts",
            "Parts of the columns of static products, PopSparse's nSplit; 0: the cheapest.");
  Param<unsigned> static_bands =
      param(this, "static_bands", 0U, range(0U, 128U), "bands",
            "Bands of the contraction of static products, PopSparse's numBands; 0: the cheapest.");
};

/// What the planners need to know of the chip.
Target make_target(const ChipParams& chip, const PlannerParams& planner);

}  // namespace lacuna::ipu

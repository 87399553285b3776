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
      flag(this, "staged_estimate", true,
           "Choose dense plans by an estimate of sums as they are made, in stages and of one "
           "contiguous input where that can be, as poplin's ConvModel. Off: in one stage, of many "
           "inputs.");
  Param<bool> fast_reduce =
      flag(this, "fast_reduce", false,
           "Contiguous inputs of a dense product's sums lie in interleaved memory and are read 128 "
           "bits at a time; poplin's enableFastReduce.");
  Param<bool> long_fp32_passes = flag(
      this, "long_fp32_passes", true,
      "Passes of dense FP32 products take the bundles of PopSparse's estimator, not poplin's.");
  Param<bool> lone_pairs =
      flag(this, "lone_pairs", true,
           "The partner of a lone receiver of gathered rows listens along, for double width.");
  Param<bool> short_pairs =
      flag(this, "short_pairs", true,
           "Pairs receive gathered rows and non-zeros of static products at double width however "
           "short the pieces are, below exchange.paired_words too.");
  Param<bool> order_elements =
      flag(this, "order_elements", true,
           "Put elements of a static plan with one part of the columns into its order.");
  Param<SumsAt> sums = param(
      this, "sums", SumsAt::rule,
      Choices<SumsAt>{{"rule", SumsAt::rule}, {"home", SumsAt::home}, {"spread", SumsAt::spread}},
      "Where static partials are summed: as popops decides for each class of equal depth, or "
      "all where the result belongs, or all spread over the tiles.");
  Param<unsigned> sums_delay =
      param(this, "sums_delay", 126U, range(0U, 65535U), "cycles",
            "An exchange in that decision; the target's getMaxIPUSyncDelay.");
  Param<bool> few_workers =
      flag(this, "few_workers", true,
           "A class of static sums has two of a tile's workers if there are more than six classes, "
           "else its share of them by the number of sums, as in popops; false: all of them.");
  Param<bool> single_step =
      flag(this, "single_step", true,
           "Static results with one contribution go home in an exchange of their own.");
  Param<bool> copy_sums =
      flag(this, "copy_sums", true,
           "Copy static partials and sums that are on the right tile already to their place.");
  Param<bool> long_sums =
      flag(this, "long_sums", true,
           "Static sums of halves take the bundles of popops' estimator, 16 + w / 4 (13 + depth); "
           "false: those on the path of the assembly, 10 + w / 4 (11 + depth).");
  Param<bool> operand_moves = flag(
      this, "operand_moves", true,
      "A product of a trace brings its operand from where the product before left it, if a layout "
      "(--layout best or a file) has put it elsewhere; as planned it is where it is taken.");
  Param<unsigned> static_parts =
      param(this, "static_parts", 0U, range(0U, 32U), "parts",
            "Parts of the columns of static products, PopSparse's nSplit; 0: the cheapest.");
  Param<unsigned> static_bands =
      param(this, "static_bands", 0U, range(0U, 128U), "bands",
            "Bands of the contraction of static products, PopSparse's numBands; 0: the cheapest.");
  Param<unsigned> dense_columns = param(this, "dense_columns", 0U, range(0U, 65536U), "parts",
                                        "Parts of the columns of dense products; 0: the cheapest.");
  Param<unsigned> dense_rows = param(this, "dense_rows", 0U, range(0U, 65536U), "parts",
                                     "Parts of the rows of dense products; 0: the cheapest.");
  Param<unsigned> dense_contraction =
      param(this, "dense_contraction", 0U, range(0U, 65536U), "parts",
            "Parts of the contraction of dense products; 0: the cheapest.");
  Param<unsigned> dense_row_steps = param(
      this, "dense_row_steps", 0U, range(0U, 64U), "steps",
      "Serial steps over the rows of dense products; 0: the cheapest of equal ones that keep to "
      "planner.available_memory.");
  Param<unsigned> dense_column_steps = param(
      this, "dense_column_steps", 0U, range(0U, 64U), "steps",
      "Serial steps over the columns of dense products; 0: one, unless no steps over rows keep "
      "to planner.available_memory.");
  Param<unsigned> dynamic_columns =
      param(this, "dynamic_columns", 0U, range(0U, 65536U), "parts",
            "Parts of the columns of dynamic products; 0: the cheapest.");
  Param<unsigned> dynamic_rows = param(this, "dynamic_rows", 0U, range(0U, 65536U), "parts",
                                       "Parts of the rows of dynamic products; 0: the cheapest.");
  Param<unsigned> dynamic_contraction =
      param(this, "dynamic_contraction", 0U, range(0U, 65536U), "parts",
            "Parts of the contraction of dynamic products; 0: the cheapest.");
};

/// What the planners need to know of the chip.
Target make_target(const ChipParams& chip, const PlannerParams& planner);

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/parameter.hpp"
#include "workloads/mapping/ipu/gemm.hpp"

namespace lacuna::ipu {

/// Who finds the zeros of an operand that was made on the chip.
enum class Encoder { none, device, host };

/// What it costs to make a sparse operand of activations. Nothing is published of it: the counts
/// are those of the shortest loops we could write for a worker (inferred).
struct EncodeParams : ParameterSet {
  Param<Encoder> encode = param(
      this, "encode", Encoder::none,
      Choices<Encoder>{
          {"none", Encoder::none}, {"device", Encoder::device}, {"host", Encoder::host}},
      "Who makes a dynamic sparse operand of activations with zeros: the tiles, or the host, over "
      "its link; none: rows with x_pattern are refused.");
  Param<unsigned> test = param(this, "test", 2U, range(0U, 256U), "bundles",
                               "Encoding on the device: of a worker for each element, to take its "
                               "bit of a comparison and branch; inferred.");
  Param<unsigned> keep =
      param(this, "keep", 4U, range(2U, 256U), "bundles",
            "Encoding on the device: for each non-zero found, to write value and "
            "place and move on; inferred.");
  Param<unsigned> place = param(this, "place", 8U, range(2U, 256U), "bundles",
                                "Encoding on the device: for each non-zero that comes to its "
                                "bucket, to count it in its row and write it there; inferred.");
};

/// Puts the making of buckets before a planned product with the dynamic sparse operand
/// `problem.mask` (elements, rows x contraction). The operand lies dense over all tiles,
/// transposed. Each tile compares its share with zero and lists what is not. The lists go to the
/// tiles of their buckets, which put them in. OutOfMemoryError if a tile cannot hold share and
/// lists beside the product.
void encode_first(const ChipParams& chip, const PlannerParams& planner, const EncodeParams& encode,
                  const GemmProblem& problem, PlannedOperation& planned);

}  // namespace lacuna::ipu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "models/ipu/program.hpp"
#include "workloads/functions/gemm_problem.hpp"
#include "workloads/mapping/ipu/dense/planner.hpp"
#include "workloads/mapping/ipu/dynamic/planner.hpp"
#include "workloads/mapping/ipu/homes.hpp"
#include "workloads/mapping/ipu/static/planner.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// A product as a chip executes it.
struct LoweredGemm {
  Program program;
  unsigned tiles_used = 0;
  std::uint64_t tile_bytes = 0;  // that the fullest tile needs
  DType output = DType::fp16;
  std::uint64_t propagation_steps = 0;  // of buckets, with a dynamic pattern
  std::function<OutputPlace(std::uint32_t row, std::uint32_t column)> place;  // with values
};

/// The program of a product that is whole: of memory of `words` on each tile, in which the region
/// of results begins at word `results`.
inline void finish_product(LoweredGemm& lowered, ProgramBuilder& builder,
                           const GemmProblem& problem,
                           const std::shared_ptr<const ProductHomes>& homes, std::uint64_t words,
                           std::uint64_t results) {
  Program& program = builder.program();
  program.mac_algorithmic = std::uint64_t{problem.m} * problem.k * problem.n;
  program.values = problem.values;
  program.memory_words = static_cast<std::uint32_t>(words);
  lowered.output = homes->result_type();
  const std::uint64_t base = results * 4 / bytes_of(lowered.output);
  lowered.place = [homes, base](std::uint32_t row, std::uint32_t column) {
    OutputPlace place = homes->result(row, column);
    place.index += base;
    return place;
  };
  lowered.program = builder.take();
}

/// Lowers the product with a dense left operand; the zeros of problem.mask, if there is one, are
/// multiplied like other numbers.
LoweredGemm lower_dense(const ChipParams& params, const Target& target, const Types& types,
                        const GemmProblem& problem, const DensePlan& plan);

/// Lowers the product with a sparse left operand whose blocks are those of `problem.mask`.
LoweredGemm lower_static(const ChipParams& params, const Target& target, const Types& types,
                         const GemmProblem& problem, const StaticPlan& plan);

/// Lowers the product with a sparse left operand whose pattern is given at run time. The plan knows
/// only how many blocks there may be. Those of `problem.mask` fill the buckets. SimulationError if
/// they overflow.
LoweredGemm lower_dynamic(const ChipParams& params, const Target& target, const Types& types,
                          const GemmProblem& problem, const DynamicPlan& plan);

/// Lowers the product with the transpose of a sparse operand from the buckets of the forward pass:
/// `plan` is that of the matrix, `problem` and its mask are those of the transpose.
LoweredGemm lower_dynamic_transposed(const ChipParams& params, const Target& target,
                                     const Types& types, const GemmProblem& problem,
                                     const DynamicPlan& plan);

/// Lowers the product with a left operand that has no element: the output is zero.
LoweredGemm lower_zero(const ChipParams& params, const Target& target, const Types& types,
                       const GemmProblem& problem);

}  // namespace lacuna::ipu

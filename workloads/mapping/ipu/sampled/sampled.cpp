// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/sampled/sampled.hpp"

#include <fmt/format.h>

#include <cmath>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/ipu/dynamic/planner.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

void check_types(const GemmProblem& problem) {
  if (problem.dtype != DType::fp16 && problem.dtype != DType::fp32) {
    throw UnsupportedError(
        fmt::format("an IPU computes sddmm in fp16 or fp32, not in {}", word(problem.dtype)));
  }
  if (problem.partials == Partials::fp16 || problem.partials == Partials::int32) {
    throw UnsupportedError(
        fmt::format("an IPU accumulates sddmm in fp32, not in {}", word(problem.partials)));
  }
}

SampledPlan plan_for(const Target& target, const PlannerParams& planner, const Types& types,
                     const Mask& mask, const GemmProblem& problem, Mode mode) {
  if (mode != Mode::dynamic) return plan_sampled(target, types, mask, problem.k);
  const DynamicPlan grid =
      plan_dynamic(target, types, {problem.m, problem.n, problem.k, mask.block_rows, mask.blocks()},
                   planner.bucket_oversize);
  return plan_sampled_buckets(target, types, mask, grid);
}

}  // namespace

Mask sampled_blocks(const Mask& mask, DType type) {
  Mask blocks = usable_blocks(mask);
  const unsigned side = dynamic_block({type, DType::fp32}, blocks.block_rows);
  if (side == blocks.block_rows) return blocks;
  return side == 1 ? blocks.elements() : blocks.blocked(side, side);
}

PlannedOperation plan_sampled_product(const ChipParams& chip, const PlannerParams& planner,
                                      const GemmProblem& problem, Mode mode) {
  if (problem.mask == nullptr) return plan_gemm(chip, planner, problem, Mode::dense);
  check_types(problem);
  if (mode == Mode::streamed || mode == Mode::dense) {
    throw UnsupportedError(
        fmt::format("an IPU runs sddmm in mode static or dynamic, not {}", word(mode)));
  }
  const Mask mask = sampled_blocks(*problem.mask, problem.dtype);
  GemmProblem blocked = problem;
  blocked.mask = &mask;
  PlannedOperation result;
  result.types = {problem.dtype, DType::fp32};
  result.lowered.output = problem.dtype;
  result.mac_useful = problem.mask->nnz() * problem.k;
  result.notes.emplace_back("mode", mode == Mode::dynamic ? "dynamic" : "static");
  if (mask.blocks() == 0) {
    result.lowered.program.set_size = chip.tile.slots();
    result.lowered.program.values = problem.values;
    result.lowered.program.mac_algorithmic = std::uint64_t{problem.m} * problem.k * problem.n;
    result.estimates = {{"total", 0}};
    result.compare = [](const ChipMemory&) { return Comparison(); };
    return result;
  }
  const Target target = make_target(chip, planner);
  const SampledPlan plan = plan_for(target, planner, result.types, mask, problem, mode);
  result.lowered = lower_sampled(chip, target, result.types, blocked, plan);
  result.notes.emplace_back(
      "plan", fmt::format("rows {} x columns {} x contraction {} parts, blocks of {}{}", plan.x,
                          plan.y, plan.z, plan.block, plan.amp ? " by the AMP" : ""));
  if (plan.estimate != kNever) result.estimates = {{"total", plan.estimate}};
  if (problem.values) {
    result.compare = [problem, mask, output = problem.dtype,
                      place = result.lowered.place](const ChipMemory& chip_memory) {
      Comparison comparison;
      compare_sampled(comparison, problem, mask, [&](std::uint32_t b, std::uint32_t e) -> double {
        const OutputPlace at = place(b, e);
        return read_element(chip_memory(at.tile), output, at.index);
      });
      return comparison;
    };
  }
  return result;
}

float sampled_left(const GemmProblem& problem, std::uint64_t p) {
  if (problem.sigma > 0) return weight_value(problem, p);
  return static_cast<float>(operand_value(problem.seed, p, false));
}

float sampled_right(const GemmProblem& problem, std::uint64_t p) { return input_value(problem, p); }

void compare_sum(Comparison& comparison, const GemmProblem& problem, double found, double exact,
                 double magnitude) {
  constexpr double kRoundings = 16;
  const bool real = problem.sigma > 0;
  if (problem.dtype == DType::fp32) {
    compare_element(comparison, found, exact, DType::fp32, real ? kRoundings : 1,
                    real ? magnitude : 0);
    return;
  }
  const double stored = real || std::abs(exact) > 2048 ? 2.25 : 1;
  const double summed = real ? kRoundings * 0x1p-24 * magnitude / (stored * 0x1p-11) : 0;
  compare_element(comparison, found, exact, DType::fp16, stored, summed);
}

void compare_sampled(Comparison& comparison, const GemmProblem& problem, const Mask& blocks,
                     const std::function<double(std::uint32_t, std::uint32_t)>& read) {
  const std::uint64_t side = blocks.block_rows;
  for (std::uint32_t row = 0; row < blocks.grid_rows(); ++row) {
    for (std::uint64_t b = blocks.offsets[row]; b < blocks.offsets[row + 1]; ++b) {
      for (std::uint32_t e = 0; e < side * side; ++e) {
        const std::uint64_t r = row * side + e / side;
        const std::uint64_t c = blocks.columns[b] * side + e % side;
        if (r >= problem.m || c >= problem.n) continue;
        double exact = 0;
        double magnitude = 0;
        for (std::uint64_t d = 0; d < problem.k; ++d) {
          const double term = double{sampled_left(problem, r * problem.k + d)} *
                              sampled_right(problem, d * problem.n + c);
          exact += term;
          magnitude += std::abs(term);
        }
        const double found = read(static_cast<std::uint32_t>(b), e);
        compare_sum(comparison, problem, found, exact, magnitude);
      }
    }
  }
}

}  // namespace lacuna::ipu

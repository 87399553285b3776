// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/homes.hpp"
#include "workloads/mapping/ipu/dynamic/homes.hpp"
#include "workloads/mapping/ipu/product_types.hpp"
#include "workloads/mapping/ipu/static/homes.hpp"

namespace lacuna::ipu {
namespace {

void check_type(const Target& target, DType type) {
  if (type == DType::fp16 || type == DType::fp32) return;
  if (type == DType::fp8 && target.amp.has(AmpMode::quarter)) return;
  if (type == DType::fp8) {
    throw UnsupportedError("this IPU has no fp8: tile.amp.fp8_macs is 0; it multiplies fp16, fp32");
  }
  throw UnsupportedError(
      fmt::format("an IPU multiplies fp16 and fp32{}, not {}: it has no such type",
                  target.amp.has(AmpMode::quarter) ? " and fp8" : "", word(type)));
}

void add_estimates(PlannedOperation& result, const DensePlan& plan, bool staged) {
  const DenseEstimate e = plan.of_steps(staged ? plan.staged : plan.estimate);
  result.estimates = {{"inputs", e.inputs},     {"weights", e.weights}, {"compute", e.compute},
                      {"partials", e.partials}, {"reduce", e.reduce},   {"total", e.total()}};
}

void add_estimates(PlannedOperation& result, const StaticPlan& plan) {
  const StaticEstimate& e = plan.estimate;
  result.estimates = {{"gather", e.rhs}, {"non-zeros", e.nonzeros}, {"compute", e.compute},
                      {"zero", e.zero},  {"partials", e.partials},  {"reduce", e.reduce},
                      {"move", e.move},  {"total", e.total()}};
}

/// What no plan can change: operands and result have to be somewhere. Empty if there is room.
std::string no_room(std::uint64_t weights, std::uint64_t m, std::uint64_t k, std::uint64_t n,
                    unsigned element_bytes, std::uint64_t chip_bytes) {
  const std::uint64_t elements = weights + (m + k) * n;  // sides have 31 bits: no overflow
  if (elements <= chip_bytes / element_bytes) return {};
  const std::uint64_t bytes = std::min(elements, kNever / element_bytes) * element_bytes;
  return fmt::format(
      "{} x {} x {}: {} stored weights, dense operand and result are {} bytes on a chip "
      "that has {}",
      m, k, n, weights, bytes, chip_bytes);
}

/// Refuses such a product before a search that would take long.
void check_room(const Target& target, const Types& types, const GemmProblem& problem) {
  const std::uint64_t weights =
      problem.mask != nullptr ? problem.mask->nnz() : std::uint64_t{problem.m} * problem.k;
  const std::string reason = no_room(weights, problem.m, problem.k, problem.n, types.bytes(),
                                     target.tiles * target.tile_bytes);
  if (!reason.empty()) throw OutOfMemoryError(reason);
}

/// The elements that a pattern keeps at least, as far as they are known before it is drawn.
std::uint64_t least_kept(const PatternSpec& pattern, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t positions =
      rows / pattern.block_rows * (columns / pattern.block_cols);  // that are whole
  if (pattern.name == "dense") return rows * columns;
  const bool counted = pattern.name == "unstructured" || pattern.name == "block";
  const bool whole = rows % pattern.block_rows == 0 && columns % pattern.block_cols == 0;
  if (!counted || !whole || !pattern.density) return 0;
  return count_of(*pattern.density, positions) * pattern.block_rows * pattern.block_cols;
}

PlannedOperation plan_dense_gemm(const ChipParams& chip, const PlannerParams& planner,
                                 const GemmProblem& problem) {
  const Target target = make_target(chip, planner);
  PlannedOperation result;
  result.types = dense_types(planner, problem);
  const DensePlan plan = plan_dense(target, result.types, problem.m, problem.k, problem.n);
  result.lowered = lower_dense(chip, target, result.types, problem, plan);
  result.notes.emplace_back("mode", "dense");
  result.notes.emplace_back("plan", fmt::format("columns {} x rows {} x contraction {} parts",
                                                plan.field_split, plan.out_split, plan.in_split));
  if (plan.steps() > 1) {
    result.notes.emplace_back("serial steps",
                              fmt::format("rows {} x columns {}", plan.serial_m, plan.serial_n));
  }
  add_estimates(result, plan, target.staged_estimate);
  if (!target.staged_estimate && plan.staged.total() != plan.estimate.total()) {
    const DenseEstimate e = plan.of_steps(plan.staged);
    result.notes.emplace_back(
        "estimate with sums in stages",
        fmt::format("partials {}, reduce {}, total {} cycles", e.partials, e.reduce, e.total()));
  }
  return result;
}

PlannedOperation plan_static_gemm(const ChipParams& chip, const PlannerParams& planner,
                                  GemmProblem problem) {
  const Target target = make_target(chip, planner);
  PlannedOperation result;
  result.types = static_types(problem);
  check_room(target, result.types, problem);
  const Mask mask =
      problem.mask == nullptr ? dense_mask(problem.m, problem.k) : usable_blocks(*problem.mask);
  problem.mask = &mask;
  result.notes.emplace_back("mode", "static");
  if (mask.blocks() == 0) {
    result.lowered = lower_zero(chip, target, result.types, problem);
    return result;
  }
  const StaticPlan plan = plan_static(target, result.types, mask, problem.n);
  result.lowered = lower_static(chip, target, result.types, problem, plan);
  result.notes.emplace_back("plan", fmt::format("columns {} parts x {} bands of blocks of {}",
                                                plan.parts.size(), plan.bands.size(), plan.block));
  add_estimates(result, plan);
  return result;
}

Types dynamic_types(const GemmProblem& problem, unsigned block) {
  if (problem.dtype == DType::fp8) {
    throw UnsupportedError("dynamic sparse products are of fp16 or fp32, not of fp8");
  }
  const Types types{problem.dtype, partials_of(problem.partials, DType::fp32)};
  if (types.partials == DType::fp16 && (block == 1 || problem.dtype == DType::fp32)) {
    throw UnsupportedError(
        "dynamic sparse products of elements, and those of fp32, accumulate in fp32, not in fp16");
  }
  return types;
}

void add_estimates(PlannedOperation& result, const DynamicEstimate& e) {
  result.estimates = {{"dense operand", e.dense}, {"buckets", e.buckets},   {"zero", e.zero},
                      {"compute", e.multiply},    {"partials", e.partials}, {"reduce", e.reduce},
                      {"total", e.total()}};
}

PlannedOperation plan_dynamic_gemm(const ChipParams& chip, const PlannerParams& planner,
                                   GemmProblem problem) {
  const Target target = make_target(chip, planner);
  check_room(target, {problem.dtype, problem.dtype}, problem);
  Mask mask =
      problem.mask == nullptr ? dense_mask(problem.m, problem.k) : usable_blocks(*problem.mask);
  PlannedOperation result;
  const unsigned block =
      dynamic_block({problem.dtype, problem.dtype}, static_cast<unsigned>(mask.block_rows));
  result.types = dynamic_types(problem, block);
  if (block != mask.block_rows) {
    mask = block == 1 ? mask.elements() : mask.blocked(block, block);
  }
  problem.mask = &mask;
  result.notes.emplace_back("mode", "dynamic");
  if (mask.blocks() == 0) {
    result.lowered = lower_zero(chip, target, result.types, problem);
    return result;
  }
  // Both passes of a layer are planned together, for the matrix of the forward pass.
  const bool transposed = problem.transposed;
  const std::uint64_t rows = transposed ? problem.k : problem.m;
  const std::uint64_t contraction = transposed ? problem.m : problem.k;
  const DynamicPlan plan =
      plan_dynamic(target, result.types, {rows, contraction, problem.n, block, mask.blocks()},
                   planner.bucket_oversize);
  result.lowered = transposed ? lower_dynamic_transposed(chip, target, result.types, problem, plan)
                              : lower_dynamic(chip, target, result.types, problem, plan);
  result.bucket_bytes = plan.bucket_bytes * plan.tiles();
  result.blocks = mask.blocks();
  result.block = block;
  if (transposed) result.notes.emplace_back("pass", "transposed, from the forward buckets");
  result.notes.emplace_back("plan", fmt::format("rows {} x contraction {} x columns {} parts, "
                                                "blocks of {}",
                                                plan.x, plan.y, plan.z, block));
  result.notes.emplace_back(
      "buckets", fmt::format("{} blocks and {} words of 16 bits, {} B each", plan.bucket_blocks,
                             plan.bucket_words, plan.bucket_bytes));
  result.notes.emplace_back("propagation steps",
                            fmt::format("{}", result.lowered.propagation_steps));
  add_estimates(result, transposed ? plan.transposed : plan.forward);
  return result;
}

}  // namespace

std::string no_room_for_product(const ChipParams& chip, const LayerOp& op) {
  const Target target = make_target(chip, {});
  return no_room(least_kept(op.pattern, op.m, op.k), op.m, op.k, op.n, bytes_of(op.dtype),
                 target.tiles * target.tile_bytes);
}

Mask usable_blocks(const Mask& mask) {
  for (const std::uint32_t side : {16U, 8U, 4U}) {
    if (mask.block_rows % side != 0 || mask.block_cols % side != 0) continue;
    const bool same = mask.block_rows == side && mask.block_cols == side;
    return same ? mask : mask.blocked(side, side);
  }
  return mask.block_rows == 1 && mask.block_cols == 1 ? mask : mask.elements();
}

namespace {

PlannedOperation plan_by_mode(const ChipParams& chip, const PlannerParams& planner,
                              const GemmProblem& problem, Mode mode) {
  const bool sparse = problem.mask != nullptr;
  switch (mode) {
    case Mode::automatic:
      return sparse ? plan_static_gemm(chip, planner, problem)
                    : plan_dense_gemm(chip, planner, problem);
    case Mode::dense:
      return plan_dense_gemm(chip, planner, problem);
    case Mode::static_:
      return plan_static_gemm(chip, planner, problem);
    case Mode::dynamic:
      return plan_dynamic_gemm(chip, planner, problem);
    case Mode::streamed:
      break;
  }
  throw UnsupportedError(
      fmt::format("an IPU runs products in mode dense, static or dynamic, not {}", word(mode)));
}

}  // namespace

std::optional<Cycle> expected_cycles(const ChipParams& chip, const PlannerParams& planner,
                                     const LayerOp& op, const Mask* mask) {
  const Target target = make_target(chip, planner);
  GemmProblem problem;
  problem.dtype = op.dtype;
  problem.partials = op.partials;
  try {
    if (mask == nullptr || op.mode == Mode::dense) {
      const DensePlan plan = plan_dense(target, dense_types(planner, problem), op.m, op.k, op.n);
      return plan.of_steps(plan.staged).total();
    }
    if (op.mode != Mode::dynamic) {
      const Mask blocks = usable_blocks(*mask);
      if (blocks.blocks() == 0) return std::nullopt;
      return plan_static(target, static_types(problem), blocks, op.n).estimate.total();
    }
    const unsigned block =
        dynamic_block({op.dtype, op.dtype}, static_cast<unsigned>(mask->block_rows));
    const std::uint64_t most = mask->nnz() / (std::uint64_t{block} * block);
    if (most == 0) return std::nullopt;
    return plan_dynamic(target, dynamic_types(problem, block), {op.m, op.k, op.n, block, most},
                        planner.bucket_oversize)
        .forward.total();
  } catch (const SimulationError&) {
    return std::nullopt;
  }
}

std::shared_ptr<const ProductHomes> product_homes(const ChipParams& chip,
                                                  const PlannerParams& planner, const LayerOp& op,
                                                  const Mask* mask) {
  const bool product = op.op == "gemm" || op.op == "spmm";
  if (!product || op.batch != 1 || op.x_pattern != "dense") return nullptr;
  const Target target = make_target(chip, planner);
  GemmProblem problem;
  problem.dtype = op.dtype;
  problem.partials = op.partials;
  try {
    if (mask == nullptr || op.mode == Mode::dense) {
      const Types types = dense_types(planner, problem);
      return std::make_shared<const DenseHomes>(
          target, types, plan_dense(target, types, op.m, op.k, op.n), op.m, op.k, op.n);
    }
    if (mask->nnz() == 0) return nullptr;
    if (op.mode != Mode::dynamic) {
      const Mask blocks = usable_blocks(*mask);
      const Types types = static_types(problem);
      plan_static(target, types, blocks, op.n);  // there is one
      return std::make_shared<const StaticHomes>(target, types, blocks.block_rows,
                                                 round_up(op.n, static_grain(types)),
                                                 blocks.grid_rows(), blocks.grid_cols());
    }
    if (op.phase == Phase::bwd) return nullptr;
    const unsigned block =
        dynamic_block({op.dtype, op.dtype}, static_cast<unsigned>(usable_blocks(*mask).block_rows));
    const std::uint64_t most = mask->nnz() / (std::uint64_t{block} * block);
    const Types types = dynamic_types(problem, block);
    return std::make_shared<const DynamicHomes>(
        types,
        plan_dynamic(target, types, {op.m, op.k, op.n, block, most}, planner.bucket_oversize),
        ceil_div(op.m, block), ceil_div(op.k, block));
  } catch (const SimulationError&) {
    return nullptr;
  }
}

PlannedOperation plan_gemm(const ChipParams& chip, const PlannerParams& planner,
                           const GemmProblem& problem, Mode mode) {
  check_type(make_target(chip, planner), problem.dtype);
  PlannedOperation planned = plan_by_mode(chip, planner, problem, mode);
  const std::uint64_t kept =
      problem.mask != nullptr ? problem.mask->nnz() : std::uint64_t{problem.m} * problem.k;
  planned.mac_useful = kept * problem.n;
  return planned;
}

}  // namespace lacuna::ipu

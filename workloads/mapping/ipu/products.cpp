// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/batched.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/rows/distance_gradient.hpp"
#include "workloads/mapping/ipu/rows/distances.hpp"
#include "workloads/mapping/ipu/sampled/sampled.hpp"
#include "workloads/mapping/ipu/transposition.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::ipu {
namespace {

/// The mask is that of another row, transposed: the backward of a layer.
bool says_transposed(const PatternSpec& pattern) {
  const std::string* value = find_value(pattern.args, "transpose");
  return pattern.name == "ref" && value != nullptr && *value == "1";
}

/// Products of the same shape that are planned as one: a batch, each with operands of its own, or
/// steps over the columns of one product, which share its weights.
enum class Series { batch, columns };

/// The values of an instance: W has the seed, X the next.
void select_values(GemmProblem& problem, Series series, std::uint32_t instance) {
  const std::uint64_t apart = 2 * std::uint64_t{instance};
  (series == Series::batch ? problem.seed : problem.x_seed) += apart;
}

GemmProblem problem_of(const OperationRequest& request, Series series, std::uint32_t instance,
                       bool values) {
  const LayerOp& op = request.op;
  GemmProblem problem;
  problem.m = op.m;
  problem.k = op.k;
  problem.n = op.n;
  problem.dtype = op.dtype;
  problem.partials = op.partials;
  problem.mask = request.mask;
  problem.transposed = says_transposed(op.pattern);
  problem.values = values;
  problem.sigma = request.sigma;
  problem.given = request.given;
  problem.seed = request.seed;
  select_values(problem, series, instance);
  return problem;
}

/// The distance that a bmm forms in place of products, if it does.
std::optional<Distance> distance_of(const LayerOp& op) {
  if (op.fn == "l1") return Distance::l1;
  if (op.fn == "l2") return Distance::l2;
  return std::nullopt;
}

PlannedOperation plan_instance(const OperationRequest& request, const ChipParams& chip,
                               const GemmProblem& problem) {
  if (const std::optional<Distance> distance = distance_of(request.op)) {
    check_vector_type(request.op);
    if (problem.mask != nullptr) {
      throw UnsupportedError("an IPU computes distances (bmm l1, l2) of dense operands alone");
    }
    const auto plan = request.op.phase == Phase::bwd ? plan_distance_gradient : plan_distances;
    return plan(chip, request.planner, problem, *distance);
  }
  if (request.op.op == "sddmm") {
    return plan_sampled_product(chip, request.planner, problem, request.op.mode);
  }
  PlannedOperation planned = plan_gemm(chip, request.planner, problem, request.op.mode);
  if (request.encode != nullptr) {
    encode_first(chip, request.planner, *request.encode, problem, planned);
  }
  if (request.op.phase != Phase::bwd || problem.mask != nullptr) return planned;
  const Target target = make_target(chip, request.planner);
  const std::uint64_t weights = std::uint64_t{problem.m} * problem.k;
  const std::uint64_t inputs = std::uint64_t{problem.k} * problem.n;
  if (request.op.op == "gemm") {
    // The backward of a layer has a dense parameter as its forward left it.
    transpose_first(chip, target, {weights}, "transpose weights", planned);
  } else if (request.op.op == "bmm" && request.op.batch == 1) {
    // The gradient of dense weights sums over tokens, of which both operands have the features
    // together. (Batches are heads of attention.)
    transpose_first(chip, target, {weights, inputs}, "transpose operands", planned);
  }
  return planned;
}

/// An instance planned for a group of tiles.
struct Candidate {
  BatchPlan batch;
  PlannedOperation one;
  Cycle estimate = kNever;
  std::uint64_t bytes = 0;  // of a tile, operands of all rounds included
};

/// Of the operands and the result of an instance, what it shares with others left out; kept ones of
/// what a mask thins out.
std::uint64_t operand_elements(const OperationRequest& request, Series series) {
  const LayerOp& op = request.op;
  const std::uint64_t left = std::uint64_t{op.m} * op.k;
  const std::uint64_t result = std::uint64_t{op.m} * op.n;
  const bool sampled = op.op == "sddmm";
  std::uint64_t all = std::uint64_t{op.k} * op.n;
  if (series == Series::columns) return all + result;
  // activations lie there with their zeros until these are found
  const bool thin = request.mask != nullptr && !sampled && request.encode == nullptr;
  all += thin ? request.mask->nnz() : left;
  all += request.mask != nullptr && sampled ? request.mask->nnz() : result;
  return all;
}

/// What an instance takes on its tiles alone: step after step, each as long as its busiest tile.
Cycle cycles_alone(const ChipParams& chip, const Program& program) {
  std::vector<std::uint64_t> issues(program.bundles.size());
  std::vector<Cycle> costs;
  for (const Vertex& vertex : program.vertices) {
    costs.push_back(vertex_cost(program, vertex, issues).cycles);
  }
  Cycle sum = 0;
  for (const ComputeSet& set : program.computes) {
    Cycle longest = 0;
    for (std::size_t tile = 0; tile + 1 < set.first.size(); ++tile) {
      Cycle cycles = chip.tile.launch;
      for (std::uint32_t i = set.first[tile]; i < set.first[tile + 1]; ++i) {
        cycles += costs[set.items[i].index];
      }
      longest = std::max(longest, cycles);
    }
    sum += longest;
  }
  for (const ExchangePhase& phase : program.exchanges) {
    sum += chip.sync.cycles + phase.plan.length;
  }
  return sum;
}

Candidate consider(const OperationRequest& request, Series series, const BatchPlan& batch) {
  Candidate candidate;
  candidate.batch = batch;
  candidate.one = plan_instance(request, small_chip(request.chip, batch.tiles),
                                problem_of(request, series, 0, false));
  candidate.estimate = batch.rounds * cycles_alone(request.chip, candidate.one.lowered.program);
  candidate.bytes =
      candidate.one.lowered.tile_bytes +
      (batch.rounds - 1) *
          ceil_div(operand_elements(request, series) * bytes_of(request.op.dtype), batch.tiles);
  return candidate;
}

/// The plan that is over soonest, of those that fit.
Candidate choose(const OperationRequest& request) {
  Candidate best;
  std::uint64_t least = kNever;
  std::string reason;
  const std::uint64_t room = std::uint64_t{request.chip.tile.memory.kib} * 1024;
  for (const BatchPlan& batch : batch_plans(request.op.batch, request.chip.ipu.tiles)) {
    try {
      Candidate candidate = consider(request, Series::batch, batch);
      least = std::min(least, candidate.bytes);
      if (candidate.bytes <= room && candidate.estimate < best.estimate) {
        best = std::move(candidate);
      }
    } catch (const OutOfMemoryError& error) {
      reason = error.what();
    }
  }
  if (best.estimate != kNever) return best;
  if (least != kNever) {
    reason = fmt::format(
        "{} '{}', {} instances of {} x {} x {}: the smallest partition needs {} "
        "bytes on a tile, which has {}",
        request.op.op, request.op.id, request.op.batch, request.op.m, request.op.k, request.op.n,
        least, room);
  }
  throw OutOfMemoryError(reason);
}

/// Small integers are exact until a sum in FP16 passes 2048, from where on it may be rounded: a
/// rounding costs at most 2^-11 of the sum, and sums of this length are rounded few times.
template <class Read>
void compare_instance(Comparison& comparison, const GemmProblem& problem, bool single,
                      const Read& read) {
  if (problem.sigma > 0 || problem.given != nullptr) {
    const RealProduct exact = real_product(problem);
    const std::uint64_t first = comparison.results.size();
    for (std::uint64_t i = 0; i < exact.y.size(); ++i) {
      const auto row = static_cast<std::uint32_t>(i / problem.n);
      const auto column = static_cast<std::uint32_t>(i % problem.n);
      const double found = read(row, column);
      if (problem.given != nullptr) comparison.keep(first + i, found);
      compare_element(comparison, found, exact.y[i], single ? DType::fp32 : DType::fp16, 32,
                      exact.magnitude[i]);
    }
    return;
  }
  const std::vector<std::int64_t> expected = reference_product(problem);
  const double roundings = single || problem.k <= 128 ? 0 : 4;
  for (std::uint32_t row = 0; row < problem.m; ++row) {
    for (std::uint32_t column = 0; column < problem.n; ++column) {
      const auto value = static_cast<double>(expected[std::uint64_t{row} * problem.n + column]);
      compare_element(comparison, read(row, column), value, DType::fp16, roundings, 2048);
    }
  }
}

std::pair<std::string, std::string> series_note(Series series, const BatchPlan& batch,
                                                std::uint32_t columns) {
  if (series == Series::columns) {
    return {"serial steps", fmt::format("{} steps of {} columns", batch.instances, columns)};
  }
  return {"batch", fmt::format("{} instances on {} groups of {} tiles, {} rounds", batch.instances,
                               batch.groups, batch.tiles, batch.rounds)};
}

/// Compares what a program of so many words of each tile leaves, instance by instance. The mask
/// outlives the run, the request may not.
auto comparison_of(const OperationRequest& request, Series series, const BatchPlan& batch,
                   const PlannedOperation& planned, std::uint32_t words) {
  const bool sampled = request.op.op == "sddmm" && request.mask != nullptr;
  const Mask blocks = sampled ? sampled_blocks(*request.mask, request.op.dtype) : Mask();
  return [problem = problem_of(request, series, 0, true), series, batch, types = planned.types,
          output = planned.lowered.output, place = planned.lowered.place, sampled, blocks,
          distance = distance_of(request.op), backward = request.op.phase == Phase::bwd,
          words](const ChipMemory& chip) {
    Comparison comparison;
    for (std::uint32_t i = 0; i < batch.instances; ++i) {
      GemmProblem instance = problem;
      select_values(instance, series, i);
      const std::uint64_t window = std::uint64_t{batch.round(i)} * words * 4 / bytes_of(output);
      const auto read = [&](std::uint32_t row, std::uint32_t column) -> double {
        const OutputPlace at = place(row, column);
        return read_element(chip(batch.first_tile(i) + at.tile), output, window + at.index);
      };
      if (distance) {
        const auto compare = backward ? compare_distance_gradient : compare_distances;
        compare(comparison, instance, *distance, read);
        continue;
      }
      if (sampled) {
        compare_sampled(comparison, instance, blocks, read);
        continue;
      }
      compare_instance(comparison, instance, types.partials == DType::fp32 && output == DType::fp32,
                       read);
    }
    return comparison;
  };
}

PlannedOperation repeat(const OperationRequest& request, Series series, Candidate candidate) {
  const BatchPlan& batch = candidate.batch;
  std::vector<std::vector<Image>> images;
  for (std::uint32_t i = 0; request.values && i < batch.instances; ++i) {
    PlannedOperation one = plan_instance(request, small_chip(request.chip, batch.tiles),
                                         problem_of(request, series, i, true));
    images.push_back(std::move(one.lowered.program.images));
    if (i == 0) candidate.one = std::move(one);
  }
  PlannedOperation result = std::move(candidate.one);
  const Program one = std::move(result.lowered.program);
  result.lowered.program = repeat_program(request.chip, one, batch, images);
  result.lowered.tile_bytes = candidate.bytes;
  result.lowered.tiles_used *= batch.groups;
  result.mac_useful *= batch.instances;
  result.bucket_bytes *= batch.instances;
  result.blocks *= batch.instances;
  result.estimates = {{"total", candidate.estimate}};
  result.notes.push_back(series_note(series, batch, request.op.n));
  if (!request.values) return result;
  result.compare = comparison_of(request, series, batch, result, one.memory_words);
  return result;
}

/// Some of the columns after the others, in as few equal steps as fit. Operands and result of all
/// steps stay on the tiles.
PlannedOperation plan_columns_in_steps(const OperationRequest& request,
                                       const OutOfMemoryError& reason) {
  const std::uint64_t room = std::uint64_t{request.chip.tile.memory.kib} * 1024;
  for (std::uint32_t steps = 2; steps <= request.op.n; ++steps) {
    if (request.op.n % steps != 0) continue;
    LayerOp op = request.op;
    op.n /= steps;
    OperationRequest step{request.chip, request.planner, op,           request.mask,
                          request.seed, request.values,  request.sigma};
    step.given = request.given;
    try {
      const BatchPlan serial{steps, steps, 1, request.chip.ipu.tiles};
      Candidate candidate = consider(step, Series::columns, serial);
      if (candidate.bytes <= room) return repeat(step, Series::columns, std::move(candidate));
    } catch (const OutOfMemoryError&) {
      continue;
    }
  }
  throw reason;
}

PlannedOperation plan_single(const OperationRequest& request) {
  // the buckets of activations are made once, for one plan
  const bool divisible = request.op.op != "sddmm" && request.mask != nullptr &&
                         request.op.mode != Mode::dense && request.op.n > 1 &&
                         request.encode == nullptr;
  try {
    return plan_instance(request, request.chip,
                         problem_of(request, Series::batch, 0, request.values));
  } catch (const OutOfMemoryError& error) {
    if (!divisible) throw;
    if (request.planner.serial_columns) return plan_columns_in_steps(request, error);
    throw OutOfMemoryError(std::string(error.what()) +
                           " (planner.serial_columns=true may run it in steps)");
  }
}

}  // namespace

PlannedOperation plan_products(const OperationRequest& request) {
  if (request.op.batch == 1) return plan_single(request);
  return repeat(request, Series::batch, choose(request));
}

}  // namespace lacuna::ipu

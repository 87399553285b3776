// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/systolic/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna::systolic {
namespace {

void check(const LayerOp& op, const BufferParams& buffer) {
  const bool product = op.op == "gemm" || op.op == "spmm";
  if (!product || op.phase != Phase::fwd) {
    throw UnsupportedError(
        fmt::format("a systolic array runs gemm and spmm in phase fwd, not {} in phase {}", op.op,
                    word(op.phase)));
  }
  if (op.dtype != DType::fp16) {
    throw UnsupportedError(fmt::format("a systolic array multiplies fp16, not {}", word(op.dtype)));
  }
  if (op.x_pattern != "dense") {
    throw UnsupportedError("x_pattern: a systolic array takes all activations");
  }
  if (op.residency == Residency::streamed || op.mode == Mode::dynamic) {
    throw UnsupportedError("a systolic array has its weights, and their pattern, beforehand");
  }
  const std::uint64_t m = op.m;
  const std::uint64_t elements = (m * op.k + std::uint64_t{op.k} * op.n) * 2 + m * op.n * 4;
  const std::uint64_t bytes = elements * op.batch;
  if (bytes > std::uint64_t{buffer.kib} * 1024) {
    throw OutOfMemoryError(fmt::format("its operands and results need {} bytes, buffer.kib has {}",
                                       bytes, std::uint64_t{buffer.kib} * 1024));
  }
}

/// Inputs of which some output in [first, last) has a weight.
std::uint32_t inputs_of(const Mask& mask, std::uint32_t first, std::uint32_t last) {
  std::vector<bool> used(mask.cols, false);
  for (std::uint64_t i = mask.offsets[first]; i < mask.offsets[last]; ++i) {
    used[mask.columns[i]] = true;
  }
  return static_cast<std::uint32_t>(std::count(used.begin(), used.end(), true));
}

}  // namespace

Plan plan_product(const LayerOp& op, const Mask* mask, const ArrayParams& array,
                  const BufferParams& buffer) {
  check(op, buffer);
  const Mask kept = mask == nullptr ? dense_mask(op.m, op.k) : mask->elements();
  Plan plan;
  plan.useful = kept.nnz() * op.n * op.batch;
  for (std::uint32_t first = 0; first < op.m; first += array.columns) {
    const std::uint32_t last = std::min(op.m, first + array.columns);
    const std::uint32_t inputs = array.skip ? inputs_of(kept, first, last) : op.k;
    plan.skipped += op.k - inputs;
    for (std::uint32_t begin = 0; begin < inputs; begin += array.rows) {
      plan.passes.push_back(
          {std::min<std::uint32_t>(array.rows, inputs - begin), last - first, op.n, begin != 0});
    }
  }
  const std::vector<Pass> once = plan.passes;
  for (std::uint32_t b = 1; b < op.batch; ++b) {
    plan.passes.insert(plan.passes.end(), once.begin(), once.end());
  }
  return plan;
}

}  // namespace lacuna::systolic

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

struct Row {
  const char* op;
  PlannedOperation (*plan)(const OperationRequest&);
};

constexpr std::array<Row, 10> kOperations = {{{"gemm", plan_products},
                                              {"spmm", plan_products},
                                              {"bmm", plan_products},
                                              {"sddmm", plan_products},
                                              {"softmax", plan_rows},
                                              {"layernorm", plan_rows},
                                              {"rmsnorm", plan_rows},
                                              {"eltwise", plan_eltwise},
                                              {"optim", plan_optimizer},
                                              {"embed", plan_embedding}}};

}  // namespace

PlannedOperation plan_operation(const OperationRequest& request) {
  std::string names;
  for (const Row& row : kOperations) {
    if (request.op.op == row.op) return row.plan(request);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.op);
  }
  throw UnsupportedError(fmt::format("an IPU runs {}, not {}", names, request.op.op));
}

double real_operand(std::uint64_t seed, std::uint64_t p) {
  return operand_value(seed, p, false) / 4.0;
}

void compare_element(Comparison& comparison, double found, double exact, DType type,
                     double roundings, double scale) {
  const double unit = type == DType::fp32 ? 0x1p-24 : 0x1p-11;
  const double error = std::abs(found - exact);
  ++comparison.compared;
  comparison.squares += error * error;
  if (!(error <= roundings * unit * std::max(std::abs(exact), scale))) ++comparison.wrong;
  comparison.largest_error = std::max(comparison.largest_error, error);
}

void check_vector_type(const LayerOp& op) {
  if (op.dtype == DType::fp16 || op.dtype == DType::fp32) return;
  throw UnsupportedError(
      fmt::format("an IPU computes {} in fp16 or fp32, not in {}", op.op, word(op.dtype)));
}

void check_tile_bytes(const ChipParams& chip, const LayerOp& op, std::uint64_t bytes) {
  const std::uint64_t all = std::uint64_t{chip.tile.memory.kib} * 1024;
  if (bytes <= all) return;
  throw OutOfMemoryError(fmt::format("{} '{}': its operands need {} bytes on a tile, which has {}",
                                     op.op, op.id, bytes, all));
}

}  // namespace lacuna::ipu

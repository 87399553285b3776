// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/operation.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

struct Row {
  const char* op;
  PlannedOperation (*plan)(const OperationRequest&);
};

constexpr std::array<Row, 11> kOperations = {{{"gemm", plan_products},
                                              {"spmm", plan_products},
                                              {"bmm", plan_products},
                                              {"sddmm", plan_products},
                                              {"softmax", plan_rows},
                                              {"take_max", plan_rows},
                                              {"layernorm", plan_rows},
                                              {"rmsnorm", plan_rows},
                                              {"eltwise", plan_eltwise},
                                              {"optim", plan_optimizer},
                                              {"embed", plan_embedding}}};

/// What an operation that a chip does not run needs beside it.
const char* why_not(const std::string& op) {
  for (const char* const collective :
       {"allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "p2p"}) {
    if (op == collective) return ": it is between chips, and this is one; run it on a system";
  }
  if (op == "io") return ": it is between a host and the chip; run it on a system";
  if (op == "repattern") return ": the host deals a new pattern, see host.* for its time";
  if (op == "opaque") return ": nothing is said of what it computes";
  return "";
}

}  // namespace

PlannedOperation plan_operation(const OperationRequest& request) {
  std::string names;
  for (const Row& row : kOperations) {
    if (request.op.op == row.op) return row.plan(request);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.op);
  }
  throw UnsupportedError(
      fmt::format("an IPU runs {}, not {}{}", names, request.op.op, why_not(request.op.op)));
}

void check_vector_type(const LayerOp& op) {
  if (op.dtype == DType::fp16 || op.dtype == DType::fp32) return;
  const char* const why =
      op.dtype == DType::fp8
          ? "the matrix unit alone reads fp8, of chips that have it; a cast makes fp8 of fp16"
          : "its vector unit has no instructions for it";
  throw UnsupportedError(
      fmt::format("an IPU computes {} in fp16 or fp32, not in {}: {}", op.op, word(op.dtype), why));
}

void check_tile_bytes(const ChipParams& chip, const LayerOp& op, std::uint64_t bytes) {
  const std::uint64_t all = std::uint64_t{chip.tile.memory.kib} * 1024;
  if (bytes <= all) return;
  throw OutOfMemoryError(fmt::format("{} '{}': its operands need {} bytes on a tile, which has {}",
                                     op.op, op.id, bytes, all));
}

}  // namespace lacuna::ipu

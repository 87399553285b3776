// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/suites.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/sparsity/decimal.hpp"
#include "workloads/generate/trace_builder.hpp"

namespace lacuna {
namespace {

LayerOp row_of(std::string id, const char* op, DType dtype) {
  LayerOp row;
  row.id = std::move(id);
  row.op = op;
  row.dtype = dtype;
  return row;
}

struct NamedDensity {
  const char* name;
  Decimal density;
};

}  // namespace

WorkloadTrace make_popsparse(const Settings& settings) {
  DType dtype = DType::fp16;
  Mode mode = Mode::automatic;
  settings.types(dtype, mode);
  std::uint32_t n = 1024;
  settings.integer("n", 1, n);
  // 1/4, 1/8, ... as exact decimals
  const std::vector<NamedDensity> densities = {{"d4", {25, 2}},
                                               {"d8", {125, 3}},
                                               {"d16", {625, 4}},
                                               {"d32", {3125, 5}},
                                               {"d64", {15625, 6}}};
  WorkloadTrace trace;
  trace.name = "popsparse";
  for (const std::uint32_t side : {512U, 1024U, 2048U, 4096U, 8192U}) {
    for (const NamedDensity& density : densities) {
      for (const std::uint32_t block : {1U, 4U, 8U, 16U}) {
        LayerOp row = row_of(fmt::format("m{}.{}.b{}", side, density.name, block), "gemm", dtype);
        set_sides(row, {side, side, n});
        row.mode = mode;
        row.pattern.name = block == 1 ? "unstructured" : "block";
        row.pattern.density = density.density;
        row.pattern.block_rows = row.pattern.block_cols = block;
        trace.ops.push_back(std::move(row));
      }
    }
  }
  return trace;
}

WorkloadTrace make_blas(const Settings& settings) {
  DType dtype = DType::fp16;
  Mode mode = Mode::automatic;
  settings.types(dtype, mode);
  constexpr std::uint32_t kVector = 1U << 20U;
  constexpr std::uint32_t kSide = 2048;
  WorkloadTrace trace;
  trace.name = "blas";
  const auto elementwise = [&](const char* id, const char* fn) {
    LayerOp row = row_of(id, "eltwise", dtype);
    row.fn = fn;
    row.m = kVector;
    row.n = 1;
    trace.ops.push_back(std::move(row));
  };
  const auto product = [&](const std::string& id, const char* op, std::uint32_t m, std::uint32_t k,
                           std::uint32_t n) -> LayerOp& {
    LayerOp row = row_of(id, op, dtype);
    set_sides(row, {m, k, n});
    if (row.op == "bmm") row.fn = "dot";
    trace.ops.push_back(std::move(row));
    return trace.ops.back();
  };
  elementwise("axpy.scale", "scale");
  elementwise("axpy.add", "add");
  trace.ops.back().depends_on = {"axpy.scale"};
  product("dot", "bmm", 1, kVector, 1);
  product("gemv", "gemm", kSide, kSide, 1);
  product("gemm", "gemm", kSide, kSide, kSide);
  const std::vector<NamedDensity> densities = {
      {"0.5", {5, 1}}, {"0.25", {25, 2}}, {"0.1", {1, 1}}, {"0.05", {5, 2}}, {"0.01", {1, 2}}};
  for (const NamedDensity& density : densities) {
    LayerOp& row = product(fmt::format("spmm.{}", density.name), "spmm", kSide, kSide, kSide);
    row.pattern.name = "unstructured";
    row.pattern.density = density.density;
  }
  return trace;
}

}  // namespace lacuna

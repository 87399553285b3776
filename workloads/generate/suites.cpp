// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/suites.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/sparsity/decimal.hpp"
#include "workloads/generate/trace_builder.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

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
        LayerOp row = make_row(fmt::format("m{}.{}.b{}", side, density.name, block), "gemm", dtype,
                               {side, side, n});
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
    trace.ops.push_back(make_row(id, "eltwise", dtype, {kVector, 0, 1}, fn));
  };
  const auto product = [&](const std::string& id, const char* op, std::uint32_t m, std::uint32_t k,
                           std::uint32_t n) -> LayerOp& {
    trace.ops.push_back(make_row(id, op, dtype, {m, k, n}, find_op_kind(op)->default_function));
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

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "workloads/mapping/wse/kernels/dense_mesh.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

LayerOp operation(const char* name, std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  LayerOp op;
  op.op = name;
  op.m = m;
  op.k = k;
  op.n = n;
  return op;
}

LayerOp chain(std::uint32_t m, std::uint32_t n, const char* ranks) {
  LayerOp op = operation("reduce", m, 0, n);
  op.dtype = DType::fp32;
  op.fn = "chain";
  op.args = {{"ranks", ranks}};
  return op;
}

/// What it says instead of running `op` on 8 x 8 cores; empty if it runs.
template <class Error>
std::string refusal(const LayerOp& op, std::vector<std::pair<const char*, const char*>> settings) {
  WseParams params;
  settings.insert(settings.end(), {{"wafer.columns", "8"}, {"wafer.rows", "8"}});
  for (const auto& [path, value] : settings) params.set(path, value, "test");
  try {
    run_tasks({"wse", params, op, nullptr, 1, Execution()});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(WaferTasks, SizesThatAddressesCannotHoldAreTooLargeAndNotSmall) {
  // 2^32 elements, which 32 bits count as none
  EXPECT_THAT(refusal<OutOfMemoryError>(chain(65536, 65536, "4"), {}),
              HasSubstr("4294967296 elements: 17179869184 bytes"));
  EXPECT_THAT(refusal<OutOfMemoryError>(operation("gemv", 2'000'000'000, 2'000'000'000, 0), {}),
              HasSubstr("a tile of W"));
  EXPECT_THAT(refusal<OutOfMemoryError>(operation("stencil", 65536, 0, 65537),
                                        {{"kernel.stencil", "five_points"}}),
              HasSubstr("4295032832 points: "));
  for (const char* const kind : {"mesh", "summa", "cannon"}) {
    EXPECT_THAT(
        refusal<OutOfMemoryError>(operation("gemm", 524288, 524288, 8), {{"kernel.gemm", kind}}),
        HasSubstr("tiles of 65536 x 65536 x 1"));
  }
}

TEST(WaferTasks, MoreRanksThanAreCountedAreRefused) {
  EXPECT_THAT(refusal<UnsupportedError>(chain(8, 1, "4294967297"), {}),
              HasSubstr("ranks = 4294967297"));
  EXPECT_EQ(refusal<UnsupportedError>(chain(8, 1, "8"), {}), "");
}

// Of a vector with a pattern the kept numbers move: an eighth of 512 are 64.
TEST(WaferTasks, AVectorOfAPatternTakesAsLongAsWhatItKeeps) {
  WseParams params;
  params.set("wafer.columns", "8", "test");
  const Mask mask = generate_mask(parse_pattern("unstructured:0.125"), 512, 1, 1);
  ASSERT_EQ(mask.nnz(), 64U);
  EXPECT_EQ(run_tasks({"wse", params, chain(512, 1, "8"), &mask, 1, Execution()}).cycles,
            run_tasks({"wse", params, chain(64, 1, "8"), nullptr, 1, Execution()}).cycles);
}

TEST(WaferTasks, ABatchIsRefusedWhereItWouldBeIgnored) {
  std::vector<LayerOp> operations = {chain(8, 1, "4")};
  for (const char* const name : {"gemv", "axpy", "dot", "mul", "stencil"}) {
    operations.push_back(operation(name, 64, 64, name[0] == 's' ? 1 : 64));
  }
  for (LayerOp& op : operations) {
    EXPECT_EQ(refusal<UnsupportedError>(op, {}), "") << op.op;
    op.batch = 2;
    EXPECT_THAT(refusal<UnsupportedError>(op, {}), HasSubstr("a batch of op '" + op.op + "'"));
  }
}

TEST(WaferTasks, TheMemoryThatIsAskedForIsThatOfThePlan) {
  for (const std::uint32_t size : {1U, 7U, 64U, 250U}) {
    for (const wse::Alignment align : {wse::Alignment::good, wse::Alignment::bad}) {
      wse::GemvJob job{size, size + 5, 8};
      job.align = align;
      EXPECT_EQ(wse::gemv_bytes(job), wse::plan_gemv(job, wse::CodeCosts()).bytes) << size;
    }
    for (const wse::StencilShape shape :
         {wse::StencilShape::five_points, wse::StencilShape::seven_points,
          wse::StencilShape::twenty_five_points}) {
      wse::StencilJob job;
      job.shape = shape;
      job.element = size % 2 == 0 ? wse::Element::fp16 : wse::Element::fp32;
      job.width = size;
      job.height = shape == wse::StencilShape::five_points ? 9 : 1;
      EXPECT_EQ(wse::stencil_bytes(job), wse::plan_stencil(job, wse::CodeCosts()).bytes) << size;
    }
  }
}

OpResult on_eight_by_eight(const LayerOp& op, const char* path, const char* value) {
  WseParams params;
  for (const char* const side : {"wafer.columns", "wafer.rows"}) params.set(side, "8", "test");
  params.set(path, value, "test");
  const Execution execution;
  const std::string name = "wse";
  const WaferRequest request{name, params, op, nullptr, 1, execution};
  if (op.op == "softmax") return run_layer_operation(request);
  if (op.mode == Mode::streamed) return run_streamed(request, false);
  return run_tasks(request);
}

TEST(WaferTasks, ASlowerMemoryTakesAsManyCyclesForABeatAsItsPortsNeed) {
  // 100 beats in each of 64 cores: 16 bytes read and 8 written, all the ports move at a time
  const LayerOp axpy = operation("axpy", 64, 0, 400);
  const auto cycles = [&](const char* port) {
    return on_eight_by_eight(axpy, "mem.port_cycles", port).cycles;
  };
  EXPECT_EQ(cycles("1"), 6U + 100);
  EXPECT_EQ(cycles("2"), 6U + 200);
  EXPECT_EQ(cycles("7"), 6U + 700);
  // whole bits, not bytes: 120 of 128 bits a cycle are too few
  EXPECT_EQ(on_eight_by_eight(axpy, "mem.read_bits", "120").cycles, 6U + 200);
  const LayerOp softmax = operation("softmax", 64, 0, 64);
  EXPECT_GT(on_eight_by_eight(softmax, "mem.port_cycles", "8").cycles,
            on_eight_by_eight(softmax, "mem.port_cycles", "1").cycles);
}

TEST(WaferTasks, PeaksOfTheMemoryAreTheSameForTasksLayersAndStreams) {
  LayerOp streamed = operation("gemm", 16, 16, 8);
  streamed.mode = Mode::streamed;
  for (const LayerOp& op :
       {operation("axpy", 64, 0, 400), operation("softmax", 64, 0, 64), streamed}) {
    // 24 bytes in each of 64 cores; at a third of the rate; 16 bytes for each of four elements
    EXPECT_EQ(on_eight_by_eight(op, "mem.port_cycles", "1").peaks.sram_bytes_per_cycle, 64.0 * 24)
        << op.op;
    EXPECT_EQ(on_eight_by_eight(op, "mem.port_cycles", "3").peaks.sram_bytes_per_cycle, 64.0 * 8)
        << op.op;
    EXPECT_EQ(on_eight_by_eight(op, "mem.model", "none").peaks.sram_bytes_per_cycle, 64.0 * 64)
        << op.op;
  }
}

}  // namespace
}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
// What a row of a trace leaves on the wafer lies where the next one takes it, or does not.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "workloads/mapping/wse/layers/tensor.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

struct Shape {
  std::uint32_t m, k, n;
  unsigned columns, rows;
};

const std::vector<Shape> kShapes{
    {12, 9, 20, 4, 5}, {13, 30, 7, 5, 9}, {40, 40, 33, 7, 4}, {5, 3, 64, 8, 6}};

StreamingPlan plan(const Shape& shape, KPartition partition, Inject inject = Inject::column_top) {
  StreamingSetup setup;
  setup.wafer.columns = shape.columns;
  setup.wafer.rows = shape.rows;
  setup.ws.k_partition = partition;
  setup.ws.inject = inject;
  StreamingJob job;
  job.gemm.m = shape.m;
  job.gemm.k = shape.k;
  job.gemm.n = shape.n;
  return plan_streaming(job, setup);
}

/// The core of each element of Y, feature by feature.
std::vector<std::size_t> where_results_lie(const StreamingPlan& plan, const Shape& shape) {
  std::vector<std::size_t> core(std::size_t{shape.m} * shape.n);
  for (std::uint32_t step = 0; step < plan.program.kernel.steps; ++step) {
    std::size_t element = std::size_t{plan.row_of_step[step]} * shape.n;
    for (std::size_t r = 0; r < plan.program.kernel.tokens.size(); ++r) {
      for (std::uint32_t t = 0; t < plan.program.kernel.tokens[r]; ++t) {
        core[element++] = r * shape.columns + plan.program.kernel.final_column[step];
      }
    }
  }
  return core;
}

/// How many elements of Y lie in another core than an operation on `batch` matrices takes them in.
std::uint64_t elements_to_move(const StreamingPlan& plan, const Shape& shape, std::uint32_t heads) {
  WaferParams wafer;
  wafer.columns = shape.columns;
  wafer.rows = shape.rows;
  const std::vector<std::size_t> lies = where_results_lie(plan, shape);
  // Of several matrices each takes as many features; tokens and features change places.
  const std::uint32_t each = shape.m / heads;
  const LayerTensor tensor = heads == 1 ? LayerTensor(wafer, shape.m, shape.n, 1)
                                        : LayerTensor(wafer, shape.n, each, heads);
  std::uint64_t moved = 0;
  tensor.for_each_element([&](std::uint64_t element, const TensorPlace& at) {
    std::uint64_t mine = element;
    if (heads != 1) {
      const std::uint64_t matrix = element / (std::uint64_t{shape.n} * each);
      const std::uint64_t token = element / each % shape.n;
      mine = (matrix * each + element % each) * shape.n + token;
    }
    moved += lies[mine] != at.core ? 1 : 0;
  });
  return moved;
}

TEST(OperandLayouts, AProductLeavesActivationsWhereFunctionsTakeThem) {
  for (const Shape& shape : kShapes) {
    EXPECT_EQ(elements_to_move(plan(shape, KPartition::block), shape, 1), 0U) << shape.m;
  }
}

TEST(OperandLayouts, AProductLeavesActivationsWhereTheNextProductTakesThem) {
  for (const KPartition partition : {KPartition::block, KPartition::cyclic}) {
    for (const Shape& shape : kShapes) {
      const StreamingPlan first = plan(shape, partition);
      const std::vector<std::uint32_t> inputs =
          assign_features(partition, shape.m, shape.columns, {});
      for (std::uint32_t step = 0; step < first.program.kernel.steps; ++step) {
        EXPECT_EQ(first.program.kernel.final_column[step], inputs[first.row_of_step[step]]);
      }
      const StreamingPlan second =
          plan({6, shape.m, shape.n, shape.columns, shape.rows}, partition);
      EXPECT_EQ(first.program.kernel.tokens, second.program.kernel.tokens);
    }
  }
}

// These have to be moved, and are: see wse_layer_move_test.cpp.
TEST(OperandLayouts, HeadsBalancedColumnsAndAnEntryInTheMiddleLieElsewhere) {
  const Shape shape{12, 9, 23, 4, 5};
  EXPECT_GT(elements_to_move(plan(shape, KPartition::block), shape, 3), 0U);   // heads of attention
  EXPECT_GT(elements_to_move(plan(shape, KPartition::cyclic), shape, 1), 0U);  // other columns
  // 23 tokens on 5 rows: the middle ones have five.
  EXPECT_GT(elements_to_move(plan(shape, KPartition::block, Inject::middle_row), shape, 1), 0U);
  // Heaviest features first, to the column with the least work: not in blocks.
  EXPECT_NE(assign_features(KPartition::balanced, 4, 2, {9, 9, 1, 1}),
            assign_features(KPartition::block, 4, 2, {}));
}

}  // namespace
}  // namespace lacuna::wse

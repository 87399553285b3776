// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

/// Costs that no sum of others is mistaken for.
WseParams distinct_costs() {
  WseParams costs;
  costs.set("vec.setup_descriptor", "1");
  costs.set("vec.setup_use", "8");
  costs.set("vec.setup_first", "7");
  costs.set("vec.setup_next", "5");
  costs.set("vec.setup_scalar", "16");
  return costs;
}

struct TiledStencil {
  std::uint32_t radius = 1;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t iterations = 1;
  bool waits = true;
  bool first_version = false;
};

TaskProgram program_of(const TiledStencil& job, const WseParams& costs) {
  return shipped("tiled_stencil",
                 {{"radius", job.radius},
                  {"width", job.width},
                  {"height", job.height},
                  {"iterations", job.iterations},
                  {"waits", static_cast<int>(job.waits)},
                  {"first_version", static_cast<int>(job.first_version)}},
                 costs);
}

/// Scalar code of a task, and its vector operations.
struct Code {
  explicit Code(const Task& task) {
    for (const Step& step : task.steps) {
      if (step.kind != Step::Kind::vector) continue;
      if (step.vector.op == VectorOp::work) {
        scalar += step.vector.length;
      } else {
        operations.push_back(step.vector);
      }
    }
  }
  std::uint32_t scalar = 0;
  std::vector<Instruction> operations;
};

/// The first and the last task of the core in the middle.
struct Middle {
  explicit Middle(const TiledStencil& job, const WseParams& costs = distinct_costs())
      : Middle(program_of(job, costs)) {}
  explicit Middle(const TaskProgram& program)
      : Middle(program.cores.at(program.core_of.at(4)).tasks) {}
  explicit Middle(const TaskList& tasks) : loop(tasks[0]), compute(tasks[tasks.size() - 1]) {}
  Code loop;
  Code compute;
};

// Each start loads a memory side and a fabric side and waits: 8 (2 + 8). Of the 4 r + 1 operations
// all but the last name one array twice and load it once: 2 + 8 + 5, the last 3 + 8 + 5. A weight
// is brought into a register once for each distance and once for the centre: 16 (r + 1).
TEST(TiledStencil, TheGeneralProgramLoadsWhatIsInNoRegister) {
  for (const std::uint32_t r : {2U, 3U, 4U}) {
    const auto [loop, compute] = Middle({r, 9, 7, 1, true, false});
    EXPECT_EQ(loop.scalar, 8 * (2 + 8U));
    EXPECT_EQ(loop.operations.size(), 8U);
    EXPECT_EQ(compute.operations.size(), 4 * r + 1);
    EXPECT_EQ(compute.scalar, 4 * r * (2 + 8 + 5) + (3 + 8 + 5) + 16 * (r + 1));
  }
}

// Radius 1 keeps all descriptors but eight, which it loads at the head of its loop before the first
// send, whose way through the pipeline is seen: 8 + 7. Its six operations are dispatched, 6 x 8. A
// program that does not wait has words in the cycles of its loads.
TEST(TiledStencil, TheProgramOfRadiusOneKeepsItsDescriptors) {
  for (const bool waits : {true, false}) {
    const auto [loop, compute] = Middle({1, 6, 6, 1, waits, false});
    EXPECT_EQ(loop.scalar, waits ? 8 + 7U : 0U);
    EXPECT_EQ(compute.scalar, 6 * 8U);
  }
}

// The first version copies the sums at the head of its loop, 2 + 8 + 5, and all its operations are
// in place.
TEST(TiledStencil, TheFirstVersionIsTheGeneralProgramWithACopy) {
  const auto [loop, compute] = Middle({1, 6, 6, 1, true, true});
  EXPECT_EQ(loop.scalar, (2 + 8 + 5) + 8 * (2 + 8U));
  ASSERT_EQ(loop.operations.size(), 9U);
  EXPECT_EQ(loop.operations[0].op, VectorOp::move);
  EXPECT_EQ(compute.scalar, 5 * (2 + 8 + 5) + 2 * 16U);
  for (const Instruction& what : compute.operations) {
    EXPECT_EQ(what.to.address, compute.operations[0].to.address);
  }
}

// The sums lie before what is exchanged: (7 + 4) rows of 9 + 4 + 1 words, then two rows and two
// words to the first point of the tile.
TEST(TiledStencil, TheSumsLieBeforeWhatIsExchanged) {
  const Code compute = Middle({2, 9, 7, 1, true, false}).compute;
  const std::uint32_t pitch = 9 + 4 + 1;
  const std::uint32_t point = 4 * (2 * pitch + 2);
  EXPECT_EQ(compute.operations.front().to.address, point);
  EXPECT_EQ(compute.operations.back().to.address, 4 * (7 + 4) * pitch + point);
}

// Distances share a weight, so that a radius more costs four operations of 30 points without a
// conflict, 4 (30 + 2 + 4 + 2), a weight, and the words of a row or column more on each side, which
// have an issue slot each where they are sent and where they are taken: 4 (6 + 5).
TEST(TiledStencil, ARadiusMoreCostsItsOperationsItsWeightAndItsWords) {
  WseParams costs;
  costs.set("vec.setup_scalar", "3");
  TaskParams params;
  params.mem.set("model", "none");
  const auto iteration = [&](std::uint32_t radius) {
    const auto end = [&](std::uint32_t iterations) {
      const TaskProgram program = program_of({radius, 6, 5, iterations, true, false}, costs);
      return run_tasks(program, Engine::event, 0, 0, params).cores.at(4).end;
    };
    return (end(6) - end(2)) / 4;
  };
  EXPECT_EQ(iteration(3) - iteration(2), 4 * (30 + 2 + 4 + 2) + 3 + 4 * (6 + 5U));
}

}  // namespace
}  // namespace lacuna::wse

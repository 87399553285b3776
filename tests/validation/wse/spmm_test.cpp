// SPDX-License-Identifier: Apache-2.0
// Public cycle counts of software-driven SpMM on a WSE-2 (pr0f3ss/SpMM_Cerebras, numbers only).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "models/wse/simulate.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/dense_mesh.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

SpmmJob job_of(std::uint32_t m, std::uint32_t k, std::uint32_t n, std::uint32_t columns,
               std::uint32_t rows, const Mask* mask) {
  SpmmJob job;
  job.m = m;
  job.k = k;
  job.n = n;
  job.columns = columns;
  job.rows = rows;
  job.mask = mask;
  job.memory_bytes = 44 * 1024;
  return job;
}

KernelParams local_product(unsigned protocol) {
  KernelParams kernel;
  kernel.spmm_phases = SpmmPhases::local;
  kernel.protocol_cycles = protocol;
  return kernel;
}

Cycle longest(const SpmmJob& job, const KernelParams& kernel) {
  const TaskOutcome run =
      simulate(TaskParams(), plan_spmm(job, kernel, CodeCosts()).program, RunOptions());
  return run.cycles;
}

Mask random_mask(std::uint32_t rows, std::uint32_t columns, Decimal density, std::uint64_t seed) {
  PatternSpec pattern;
  pattern.name = "unstructured";
  pattern.block_rows = pattern.block_cols = 1;
  pattern.density = density;
  return generate_mask(pattern, rows, columns, seed);
}

TEST(SoftwareSpmm, DenseTilesOfTwoByTwoCoresInConflictAreWithinHalfAPercentOfThePublished) {
  struct Row {
    std::uint32_t side;
    std::uint32_t n;
    double cycles;
  };
  for (const Row& row : {Row{16, 32, 7592}, Row{16, 128, 19880}, Row{64, 32, 115544}}) {
    SpmmJob job = job_of(row.side, row.side, row.n, 2, 2, nullptr);
    job.align = Alignment::bad;
    EXPECT_NEAR(static_cast<double>(longest(job, local_product(88))), row.cycles,
                0.005 * row.cycles);
  }
}

TEST(SoftwareSpmm, TheFullestCoreOfALargeGridIsWithinThreePercentOfThePublished) {
  struct Row {
    std::uint32_t nonzeros;  // of the tile of 128 x 16, the largest published count
    double cycles;
  };
  for (const Row& row : {Row{128, 17727}, Row{245, 31764}, Row{458, 57320}}) {
    const Mask mask = random_mask(128, 16, {(row.nonzeros * 1'000'000'000ULL + 2047) / 2048, 9}, 1);
    ASSERT_EQ(mask.nnz(), row.nonzeros);
    const SpmmJob job = job_of(128, 16, 64, 1, 1, &mask);
    EXPECT_NEAR(static_cast<double>(longest(job, local_product(1593))), row.cycles,
                0.03 * row.cycles);
  }
}

TEST(SoftwareSpmm, TheLayoutOfItsOperandsDecidesWhetherBeatsConflict) {
  const SpmmJob good = job_of(8, 8, 32, 1, 1, nullptr);
  SpmmJob bad = good;
  bad.align = Alignment::bad;
  // 64 products of 36 elements: 36 + 6 residual stalls, or 2 x 36
  EXPECT_EQ(longest(bad, local_product(0)) - longest(good, local_product(0)), 64 * (72 - 42));
}

TEST(SoftwareSpmm, NoRandomMaskHasACoreBelowThePublishedLeastByMoreThanItsScatter) {
  // Three rows: 1024 x 1024 over 64 x 8 cores at 5, 10 and 20 %; the published least cores took
  // 11074, 22503 and 44946 cycles, which are 73, 167 and 354 non-zeros here. The least of 512
  // cores of a random mask lies in a band of about a third of the mean's deviation around that.
  struct Row {
    Decimal density;
    std::size_t published;
    std::size_t scatter;
  };
  for (const Row& row : {Row{{5, 2}, 73, 12}, Row{{1, 1}, 167, 16}, Row{{2, 1}, 354, 22}}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Mask mask = random_mask(1024, 1024, row.density, seed);
      std::vector<std::size_t> counts(512, 0);
      for (std::uint32_t i = 0; i < 1024; ++i) {
        for (std::uint64_t e = mask.offsets[i]; e < mask.offsets[i + 1]; ++e) {
          ++counts[i / 128 * 64 + mask.columns[e] / 16];
        }
      }
      const auto least = static_cast<double>(*std::min_element(counts.begin(), counts.end()));
      EXPECT_NEAR(least, static_cast<double>(row.published), static_cast<double>(row.scatter));
    }
  }
}

/// What the loops of a format come to on the core that takes longest, by hand: 39 cycles of scalar
/// code for an element (41 with a third load), 48 for a column or row whose ends are read (of
/// equally long rows loop 5 and product 8), and of a vector in place 19/16 of its length, stalls
/// after 5, 10 and 15 of each 16 elements.
Cycle by_hand(const SpmmJob& job, SpmmFormat format) {
  const std::uint32_t rows = (job.m + job.rows - 1) / job.rows;
  const std::uint32_t columns = (job.k + job.columns - 1) / job.columns;
  std::vector<Cycle> counts(std::size_t{job.rows} * job.columns, 0);
  Cycle slots = 0;
  for (std::uint32_t i = 0; i < job.m; ++i) {
    std::vector<Cycle> of_row(job.columns, 0);
    for (std::uint64_t e = job.mask->offsets[i]; e < job.mask->offsets[i + 1]; ++e) {
      slots = std::max(slots, ++of_row[job.mask->columns[e] / columns]);
    }
    for (std::uint32_t c = 0; c < job.columns; ++c) counts[i / rows * job.columns + c] += of_row[c];
  }
  const Cycle most = *std::max_element(counts.begin(), counts.end());
  const Cycle length = (job.n + 4) / 4 * 4;
  const Cycle vector = length + length / 16 * 3 + std::min<Cycle>(length % 16 / 5, 3);
  switch (format) {
    case SpmmFormat::csc:
      return most * (39 + vector) + Cycle{48} * columns;
    case SpmmFormat::csr:
      return most * (39 + vector) + Cycle{48} * rows;
    case SpmmFormat::coo:
      return most * (41 + vector);
    case SpmmFormat::ellpack:
      return slots * rows * (39 + vector) + Cycle{5 + 8} * rows;
    case SpmmFormat::dense: {
      // Columns of A and C that start in different banks and stay there: rows and stalls. In the
      // same banks, two cycles a row. A row of A is `columns` words long and one of C `n`, so they
      // change sides from row to row if one of these is odd.
      Cycle cycles = 0;
      for (std::uint32_t j = 0; j < columns; ++j) {
        cycles += 48 + 4;
        for (std::uint32_t t = 0; t < job.n; ++t) {
          cycles += 21;  // loop 5, address 2 + 2, load 2, base 4, start 6
          for (std::uint32_t i = 0; i < rows; ++i) {
            const bool conflict = (i * columns + j + i * job.n + t) % 2 == 0;
            const bool stall = !conflict && (i % 16 == 4 || i % 16 == 9 || i % 16 == 14);
            cycles += conflict || stall ? 2 : 1;
          }
        }
      }
      return cycles;
    }
  }
  return 0;
}

TEST(SoftwareSpmm, EveryFormatTakesWhatItsLoopsComeToAtAnyDensityAndGrid) {
  struct Shape {
    std::uint32_t m, k, n, columns, rows;
  };
  for (const Shape& shape : {Shape{64, 48, 30, 3, 4}, Shape{50, 70, 64, 5, 7},
                             Shape{33, 9, 17, 2, 2}, Shape{128, 64, 128, 8, 4}}) {
    for (const Decimal& density : {Decimal{1, 2}, Decimal{7, 2}, Decimal{3, 1}, Decimal{95, 2}}) {
      const Mask mask = random_mask(shape.m, shape.k, density, 3);
      const SpmmJob job = job_of(shape.m, shape.k, shape.n, shape.columns, shape.rows, &mask);
      for (const SpmmFormat format : {SpmmFormat::csc, SpmmFormat::csr, SpmmFormat::coo,
                                      SpmmFormat::ellpack, SpmmFormat::dense}) {
        KernelParams kernel = local_product(0);
        kernel.spmm_format = format;
        const TaskKernel plan = plan_spmm(job, kernel, CodeCosts());
        const TaskOutcome run = simulate(TaskParams(), plan.program, RunOptions());
        EXPECT_EQ(run.cycles, by_hand(job, format))
            << shape.m << " x " << shape.k << ", format " << static_cast<int>(format);
        std::uint64_t products = 0;
        for (const TaskCounters& core : run.cores) products += core.mac32;
        // a product of every kept weight, and what a format adds to it, nothing else
        EXPECT_EQ(products - plan.edge - plan.zeros, mask.nnz() * shape.n);
      }
    }
  }
}

TEST(SoftwareSpmm, EveryFormatGivesTheExactProductInBothEngines) {
  const Mask mask = random_mask(24, 18, {3, 1}, 5);
  for (const SpmmFormat format : {SpmmFormat::csc, SpmmFormat::csr, SpmmFormat::coo,
                                  SpmmFormat::ellpack, SpmmFormat::dense}) {
    for (const SpmmPhases phases : {SpmmPhases::local, SpmmPhases::all}) {
      SpmmJob job = job_of(24, 18, 5, 3, 4, &mask);
      job.values = true;
      KernelParams kernel;
      kernel.spmm_format = format;
      kernel.spmm_phases = phases;
      const TaskKernel plan = plan_spmm(job, kernel, CodeCosts());
      const TaskOutcome clocked = run_tasks(plan.program, Engine::clocked);
      const TaskOutcome event = run_tasks(plan.program, Engine::event, 7);
      EXPECT_EQ(clocked.cycles, event.cycles);
      EXPECT_TRUE(clocked.cores == event.cores);
      EXPECT_TRUE(clocked.routers == event.routers);
      EXPECT_TRUE(clocked.events == event.events);
      const LayerComparison found = plan.compare(event.memory);
      EXPECT_EQ(found.wrong, 0U);
      EXPECT_EQ(found.compared, 24U * 5U * (phases == SpmmPhases::all ? 1 : 3));
    }
  }
}

TEST(LocalKernels, AnIsolatedProductTakesItsLengthOrTwiceItsLengthAndSixCycles) {
  const auto cycles = [](std::uint32_t length, bool apart) {
    return run_tasks(plan_local("mul", Element::fp32, length, apart).program).cycles;
  };
  EXPECT_EQ(cycles(1028, true), 1034U);
  EXPECT_EQ(cycles(5124, false), 10254U);
}

TEST(LocalKernels, AxpyAndDotRunAtFourElementsInACycle) {
  for (const char* operation : {"axpy", "dot"}) {
    const TaskOutcome run = run_tasks(plan_local(operation, Element::fp16, 8000).program);
    EXPECT_EQ(run.cycles, 6U + 2000U) << operation;
  }
}

TEST(Gemv, BothEnginesAgreeAndTheMiddleIsFasterThanTheEnd) {
  Cycle cycles[2] = {0, 0};
  for (const GemvReduce reduce : {GemvReduce::mesh, GemvReduce::chain}) {
    GemvJob job{250, 243, 32, reduce};
    job.values = true;
    const TaskKernel kernel = plan_gemv(job, CodeCosts());
    const TaskOutcome clocked = run_tasks(kernel.program, Engine::clocked, 3);
    const TaskOutcome event = run_tasks(kernel.program, Engine::event);
    EXPECT_EQ(clocked.cycles, event.cycles);
    EXPECT_TRUE(clocked.cores == event.cores);
    EXPECT_TRUE(clocked.events == event.events);
    const LayerComparison found = kernel.compare(event.memory);
    EXPECT_EQ(found.wrong, 0U);
    EXPECT_EQ(found.compared, 8U * 32U);
    job.values = false;
    EXPECT_EQ(run_tasks(plan_gemv(job, CodeCosts()).program).cycles, event.cycles);
    cycles[reduce == GemvReduce::mesh ? 0 : 1] = event.cycles;
  }
  EXPECT_LT(cycles[0], cycles[1]);
}

TEST(Gemv, ARootTakesBothSidesAndSendsTheSumBack) {
  GemvJob job{3, 3, 3};
  // 17 of scalar code and one product; a word from each neighbour, issue to queue 6 cycles; the
  // root adds two and sends one, after two loads, 4 and 2; its neighbours store it 6 cycles later
  EXPECT_EQ(run_tasks(plan_gemv(job, CodeCosts()).program).cycles, 18U + 6 + 2 + 8 + 6 + 1);
  job.repeats = 3;  // a neighbour begins again when it has the sum
  EXPECT_EQ(run_tasks(plan_gemv(job, CodeCosts()).program).cycles, 3U * 41);
}

TEST(Gemv, NineCoresAddUpInThreeGroupsAndTheGroupsInTheMiddleOne) {
  // The product 18; a group's neighbours 6, its root adds two; three hops to the middle root, from
  // issue to queue 8, which adds two and starts to send, 8; four hops to the last core, 9, which
  // stores the sum.
  const TaskKernel kernel = plan_gemv({9, 9, 9}, CodeCosts());
  EXPECT_EQ(run_tasks(kernel.program).cycles, 18U + 6 + 2 + 8 + 2 + 8 + 9 + 1);
}

TEST(Gemv, EachProductIsCountedOnceTheFirstOfASumIncluded) {
  // tiles of 3 x 2 in each of 4 x 4 cores: 12 x 8 products, of which one column is simulated; an
  // address register that goes on by itself needs columns of 4
  for (const GemvWalk walk : {GemvWalk::saved, GemvWalk::written}) {
    GemvJob job{10, 7, 4};
    job.repeats = 2;
    job.walk = walk;
    const TaskKernel kernel = plan_gemv(job, CodeCosts());
    const TaskOutcome run = run_tasks(kernel.program);
    std::uint64_t products = 0;
    for (const TaskCounters& core : run.cores) products += core.mac16;
    EXPECT_EQ(products * kernel.copies, 2U * (walk == GemvWalk::saved ? 16 : 12) * 8);
    EXPECT_EQ(products * kernel.copies - kernel.edge, 2U * 10 * 7);
  }
}

TEST(Gemv, ASavedAddressTakesNoWriteForAnyColumnButTheFirst) {
  // One core, columns of 13 elements (four beats) for 5 inputs: loop 5, load 2, start 6 and the
  // beats for each, and 4 for an address: one, or one for each input.
  GemvJob job{13, 5, 1};
  job.values = true;
  for (const GemvWalk walk : {GemvWalk::saved, GemvWalk::written}) {
    job.walk = walk;
    const TaskKernel kernel = plan_gemv(job, CodeCosts());
    const TaskOutcome run = run_tasks(kernel.program);
    EXPECT_EQ(run.cycles, 5U * (5 + 2 + 6 + 4) + (walk == GemvWalk::saved ? 1 : 5) * 4);
    EXPECT_EQ(kernel.compare(run.memory).wrong, 0U);
  }
}

TEST(Gemv, ProductsWithoutABarrierGiveTheSameInBothEngines) {
  GemvJob job{90, 77, 30};
  job.repeats = 3;
  job.values = true;
  const TaskKernel kernel = plan_gemv(job, CodeCosts());
  const TaskOutcome clocked = run_tasks(kernel.program, Engine::clocked, 5);
  const TaskOutcome event = run_tasks(kernel.program, Engine::event);
  EXPECT_TRUE(clocked.cores == event.cores);
  EXPECT_TRUE(clocked.events == event.events);
  EXPECT_EQ(kernel.compare(event.memory).wrong, 0U);
}

TEST(LocalKernels, VectorOperationsGiveTheExactResultAndTheTimesTheyHaveWithoutValues) {
  for (const char* operation : {"axpy", "dot", "mul"}) {
    for (const Element element : {Element::fp16, Element::fp32}) {
      const TaskKernel kernel = plan_local(operation, element, 301, true, true);
      const TaskOutcome run = run_tasks(kernel.program);
      const LayerComparison found = kernel.compare(run.memory);
      EXPECT_EQ(found.wrong, 0U) << operation;
      EXPECT_EQ(found.compared, std::string(operation) == "dot" ? 1U : 301U);
      EXPECT_EQ(run_tasks(plan_local(operation, element, 301).program).cycles, run.cycles);
    }
  }
}

TEST(Stencil, ThePointsAreThoseOfTheWholeGridInBothEnginesAfterAnyNumberOfIterations) {
  for (const StencilShape shape : {StencilShape::seven_points, StencilShape::five_points}) {
    for (const Element element : {Element::fp16, Element::fp32}) {
      for (const std::uint32_t iterations : {1U, 2U, 3U, 6U}) {
        StencilJob job{shape, element, 7, shape == StencilShape::five_points ? 4U : 1U, 4, 3};
        job.iterations = iterations;
        job.values = true;
        const TaskKernel kernel = plan_stencil(job, CodeCosts());
        const TaskOutcome clocked = run_tasks(kernel.program, Engine::clocked, 3);
        const TaskOutcome event = run_tasks(kernel.program, Engine::event);
        EXPECT_EQ(clocked.cycles, event.cycles);
        EXPECT_TRUE(clocked.cores == event.cores);
        EXPECT_TRUE(clocked.events == event.events);
        EXPECT_EQ(kernel.compare(event.memory).wrong, 0U) << "iterations " << iterations;
      }
    }
  }
}

// Senders take turns on one color in each direction, so every width up to two turns and a half, and
// what is cut off by an edge, are tried, with several iterations after one another.
TEST(Stencil, PointsAsFarAsFourCoresAwayAreAddedOnRectanglesOfAnyShape) {
  const std::pair<std::uint32_t, std::uint32_t> shapes[] = {{1, 1}, {2, 1}, {1, 4},  {5, 5},
                                                            {6, 3}, {4, 9}, {11, 2}, {12, 7}};
  for (const auto& [columns, rows] : shapes) {
    for (const Element element : {Element::fp16, Element::fp32}) {
      StencilJob job{StencilShape::twenty_five_points, element, 5, 1, columns, rows};
      job.iterations = 1 + (columns + rows) % 3;
      job.values = true;
      const TaskKernel kernel = plan_stencil(job, CodeCosts());
      const TaskOutcome clocked = run_tasks(kernel.program, Engine::clocked, 3);
      const TaskOutcome event = run_tasks(kernel.program, Engine::event);
      EXPECT_EQ(clocked.cycles, event.cycles);
      EXPECT_TRUE(clocked.cores == event.cores);
      EXPECT_TRUE(clocked.routers == event.routers);
      EXPECT_TRUE(clocked.events == event.events);
      EXPECT_EQ(kernel.compare(event.memory).wrong, 0U) << columns << " x " << rows;
    }
  }
}

// A core alone: a product of 4 points, with two descriptors 8 + 4 cycles, and eight
// multiply-accumulates in place. The buffers lie 4 bytes apart modulo 8, so points 2 and 4 further
// on are read in one cycle with the sum (8 + 4 each), points 1 and 3 further on in two (8 + 8).
TEST(Stencil, TwentyFivePointsOnOneCoreTakeTheirNineLocalTerms) {
  const TaskProgram program =
      plan_stencil({StencilShape::twenty_five_points, Element::fp32, 4, 1, 1, 1}, CodeCosts())
          .program;
  EXPECT_EQ(run_tasks(program).cycles, 12U + 4 * 12 + 4 * 16);
}

// The core in the middle of 9 x 9 has four on each side. Its column of 20 goes out once to each
// side, the routers make the copies; sixteen columns come.
TEST(Stencil, OfTwentyFivePointsACoreSendsFourColumnsAndTakesSixteen) {
  const TaskProgram program =
      plan_stencil({StencilShape::twenty_five_points, Element::fp32, 20, 1, 9, 9}, CodeCosts())
          .program;
  const TaskOutcome run = run_tasks(program);
  EXPECT_EQ(run.cores[40].sent, 4U * 20);
  EXPECT_EQ(run.cores[40].received, 16U * 20);
  EXPECT_EQ(run.cores[0].sent, 2U * 20);
  EXPECT_EQ(run.cores[0].received, 8U * 20);
}

TEST(Stencil, EachInnerCoreSendsAndTakesFourColumnsInBothEngines) {
  const TaskProgram program =
      plan_stencil({StencilShape::seven_points, Element::fp32, 20, 1, 4, 3}, CodeCosts()).program;
  const TaskOutcome clocked = run_tasks(program, Engine::clocked, 3);
  const TaskOutcome event = run_tasks(program, Engine::event);
  EXPECT_EQ(clocked.cycles, event.cycles);
  EXPECT_TRUE(clocked.cores == event.cores);
  EXPECT_EQ(event.cores[5].sent, 80U);
  EXPECT_EQ(event.cores[5].received, 80U);
  EXPECT_EQ(event.cores[0].received, 40U);  // a corner has two neighbours
}

TEST(DenseMesh, TilesThatGoRoundOrAreBroadcastGiveTheExactProductInBothEngines) {
  for (const DenseMesh kind : {DenseMesh::mesh, DenseMesh::summa, DenseMesh::cannon}) {
    for (const std::uint32_t side : {1U, 2U, 3U, 4U, 5U}) {
      DenseMeshJob job;
      job.m = 19;
      job.k = 14;
      job.n = 11;
      job.side = side;
      job.kind = kind;
      job.memory_bytes = 44 * 1024;
      job.values = true;
      const TaskKernel kernel = plan_dense_mesh(job, CodeCosts());
      const TaskOutcome clocked = run_tasks(kernel.program, Engine::clocked, 5);
      const TaskOutcome event = run_tasks(kernel.program, Engine::event);
      EXPECT_EQ(clocked.cycles, event.cycles);
      EXPECT_TRUE(clocked.cores == event.cores);
      EXPECT_TRUE(clocked.routers == event.routers);
      EXPECT_TRUE(clocked.events == event.events);
      EXPECT_EQ(kernel.compare(event.memory).wrong, 0U) << "side " << side;
    }
  }
}

// Tiles of 2 x 2: of W two columns of 8 bytes, 4 words, of X 8 bytes, 2 words. On a square of
// three, core (1, 0) shifts its tiles of W 3 - 1 times to skew them and twice between products,
// those of X twice only; the core in the corner needs no skew.
TEST(DenseMesh, CannonSkewsRowsAndColumnsByTheirPlaces) {
  DenseMeshJob job;
  job.m = job.k = job.n = 6;
  job.side = 3;
  job.kind = DenseMesh::cannon;
  job.memory_bytes = 44 * 1024;
  const TaskOutcome run = run_tasks(plan_dense_mesh(job, CodeCosts()).program);
  EXPECT_EQ(run.cores[0].sent, 2U * 4 + 2 * 2);
  EXPECT_EQ(run.cores[3].sent, (2U + 2) * 4 + 2 * 2);
  EXPECT_EQ(run.cores[1].sent, 2U * 4 + (2 + 2) * 2);
}

TEST(DenseMesh, TwoColorsServeBroadcastsOverASquareOfAnySize) {
  DenseMeshJob job;
  job.m = 34;
  job.k = 19;
  job.n = 17;
  job.side = 17;
  job.kind = DenseMesh::summa;
  job.memory_bytes = 44 * 1024;
  job.values = true;
  const TaskKernel kernel = plan_dense_mesh(job, CodeCosts());
  const TaskOutcome run = run_tasks(kernel.program);
  EXPECT_EQ(kernel.compare(run.memory).wrong, 0U);
  // each core takes all tiles of its row and column but its own: 2 x 2 and 2 x 1 halves, padded to
  // 8 bytes for each k of W and for all of X
  EXPECT_EQ(run.cores[0].received, 16U * (2 * 2 + 2));
}

}  // namespace
}  // namespace lacuna::wse

// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <vector>

#include "models/ipu/ipu_chip.hpp"
#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/kernel/sim_context.hpp"
#include "sim/machines/machine.hpp"
#include "workloads/mapping/ipu/gemm.hpp"

namespace lacuna::ipu {
namespace {

/// 4096 x 4096 x 1024 at 1/16 on a whole chip.
struct Product {
  explicit Product(std::int64_t block) {
    PatternSpec spec;
    spec.name = block == 1 ? "unstructured" : "block";
    spec.block_rows = spec.block_cols = static_cast<std::uint32_t>(block);
    spec.density = Decimal{625, 4};
    mask = generate_mask(spec, 4096, 4096, 1);
    problem.m = problem.k = 4096;
    problem.n = 1024;
    problem.mask = &mask;
  }

  PlannedOperation plan() const { return plan_gemm(chip, planner, problem, Mode::static_); }

  ChipParams chip;
  PlannerParams planner;
  Mask mask;
  GemmProblem problem;
};

void planner(benchmark::State& state) {
  const Product product(state.range(0));
  const Target target = make_target(product.chip, product.planner);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        plan_static(target, {DType::fp16, DType::fp16}, product.mask, product.problem.n));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(product.mask.blocks()));
}
BENCHMARK(planner)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

/// Planning, lowering and scheduling: all that is done before the first cycle.
void lowering(benchmark::State& state) {
  const Product product(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(product.plan());
}
BENCHMARK(lowering)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

/// Words of an exchange in which every tile gets 64 words from each of eight others.
void scheduler(benchmark::State& state) {
  const ChipParams chip;
  const unsigned tiles = chip.ipu.tiles;
  for (auto _ : state) {
    ProgramBuilder builder(chip);
    TransferList list;
    for (unsigned tile = 0; tile < tiles; ++tile) {
      for (unsigned i = 1; i <= 8; ++i) {
        list.add({(tile + 37 * i) % tiles, 0}, 64, {Place{tile, 1000 + 64 * i}});
      }
    }
    benchmark::DoNotOptimize(builder.exchange("all", list));
  }
  state.SetItemsProcessed(state.iterations() * tiles * 8 * 64);
}
BENCHMARK(scheduler)->Unit(benchmark::kMillisecond);

/// A chip at work. Items are tile-cycles in which a tile issues a bundle or moves a word; tile: a
/// chip of two tiles.
void chip(benchmark::State& state, Engine engine, bool whole) {
  Product product(16);
  if (!whole) {
    product.chip.set("ipu.tiles", "2");
    product.problem.m = product.problem.k = product.problem.n = 256;
    product.mask = dense_mask(256, 256).blocked(16, 16);
  }
  const PlannedOperation planned = product.plan();
  std::uint64_t active = 0;
  for (auto _ : state) {
    const SimContext context;
    ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
    IpuChip one("chip", clock, product.chip, planned.lowered.program, engine);
    benchmark::DoNotOptimize(one.run());
    const TileCycleStats& cycles = one.cycle_stats();
    active += cycles.worker.value() + cycles.supervisor.value() + cycles.exchange.value();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(active));
}
BENCHMARK_CAPTURE(chip, tile_clocked, Engine::clocked, false)
    ->Name("tile/clocked")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(chip, tile_event, Engine::event, false)
    ->Name("tile/event")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(chip, bow_clocked, Engine::clocked, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(chip, bow_event, Engine::event, true)->Unit(benchmark::kMillisecond);

/// What is possible: one visit to each non-zero in the order of the rows, counting what a codelet
/// would take; the ratio of `lowering` and `chip` to it is what the simulation costs.
void bare_loop(benchmark::State& state) {
  const Product product(state.range(0));
  const Mask& mask = product.mask;
  std::vector<std::uint64_t> load(1472);
  for (auto _ : state) {
    for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
      for (std::uint64_t i = mask.offsets[row]; i < mask.offsets[row + 1]; ++i) {
        load[(mask.columns[i] * 45ULL / 4096 * 32 + row / 128) % 1472] += 5;
      }
    }
    benchmark::DoNotOptimize(load.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(mask.blocks()));
}
BENCHMARK(bare_loop)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lacuna::ipu

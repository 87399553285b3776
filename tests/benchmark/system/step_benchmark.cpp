// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "models/system/simulation.hpp"
#include "workloads/mapping/system/training_program.hpp"

namespace lacuna::system {
namespace {

/// A weight update on `machines` machines of four chips: pipelines of eight, the rest replicas, 24
/// layers of 1 ms forward and 2 ms backward, 32 micro-batches.
void weight_update(benchmark::State& state, const char* schedule) {
  SystemParams params;
  params.machines = static_cast<unsigned>(state.range(0));
  params.links.topology = Topology::torus;
  TrainingParams training;
  training.pipeline = 8;
  training.replicas = params.chips() / 8;
  training.rts_state = training.replicas.value();
  training.accumulation = 32;
  training.head_stage = 7;
  training.set("schedule", schedule);
  ModelParts model;
  model.layers = 24;
  model.boundary_bytes = 1U << 20U;
  ChipCosts costs(training.pipeline);
  for (auto& chip : costs) {
    for (PartCost& part : chip) {
      part.forward.cycles = 500'000;
      part.backward.cycles = 1'000'000;
      part.elements = 6'000'000;
    }
  }
  const std::vector<Stages> phases = stages_of(training, model.layers);
  const Fabric fabric(params);
  for (auto _ : state) {
    const Program program =
        training_program({params, training, model, phases, costs, 1.0, 8, 1000});
    benchmark::DoNotOptimize(run_program(params, fabric, program, {}).ns);
  }
}

BENCHMARK_CAPTURE(weight_update, grouped, "grouped")
    ->Arg(4)
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(weight_update, one_f_one_b, "1f1b")
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lacuna::system

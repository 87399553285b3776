// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/system/simulation.hpp"
#include "sim/base/mix.hpp"
#include "tests/support/system/random_segment.hpp"
#include "workloads/mapping/system/training_program.hpp"

namespace lacuna {
namespace {

using system::ChipCosts;
using system::Fabric;
using system::kParts;
using system::ModelParts;
using system::ProgramResult;
using system::Stages;
using system::SystemExecution;
using system::SystemParams;
using system::TrainingParams;

/// A weight update of a model of four layers with random costs.
system::Program random_step(const SystemParams& params, const TrainingParams& training,
                            std::uint64_t seed) {
  ModelParts model;
  model.layers = 4;
  model.boundary_bytes = 64 + mix(seed) % 4000;
  model.first_bytes = {0, 100 + mix(seed + 1) % 9000, 100 + mix(seed + 2) % 9000, 0};
  model.last_bytes = {0, 100 + mix(seed + 3) % 4000, 100 + mix(seed + 4) % 9000, 0};
  const std::vector<Stages> phases = stages_of(training, model.layers);
  ChipCosts costs(training.pipeline);
  for (std::size_t chip = 0; chip < costs.size(); ++chip) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::uint64_t draw = seed * 1000 + chip * 10 + part;
      costs[chip][part].forward.cycles = mix(draw) % 900;
      costs[chip][part].backward.cycles = mix(draw + 100) % 1900;
      costs[chip][part].update.cycles = mix(draw + 200) % 300;
      const std::uint64_t elements = mix(draw + 300) % 5000;
      costs[chip][part].trained = {elements, 2 * elements, 2 * elements, 8 * elements};
    }
  }
  return system::training_program({params, training, model, phases, costs, 1.0, 40});
}

void compare(const TrainingParams& training, std::uint64_t seed) {
  SystemParams params = test::small_system(8, seed % 2 == 0 ? 64 : 4);
  params.gateway.update_ms = 0.001;
  const Fabric fabric(params);
  const system::Program program = random_step(params, training, seed);
  SystemExecution clocked;
  clocked.engine = Engine::clocked;
  clocked.event_log = true;
  clocked.jitter = seed % 3 == 0 ? 0 : 23;
  clocked.jitter_seed = seed;
  SystemExecution event = clocked;
  event.engine = Engine::event;
  event.shuffle = seed + 1;
  const ProgramResult a = run_program(params, fabric, program, clocked);
  const ProgramResult b = run_program(params, fabric, program, event);
  EXPECT_EQ(a.ns, b.ns);
  EXPECT_EQ(a.chips, b.chips);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.busy_ns, b.busy_ns);
  ASSERT_EQ(a.segments.size(), b.segments.size());
  for (std::size_t i = 0; i < a.segments.size(); ++i) {
    EXPECT_EQ(a.segments[i].events, b.segments[i].events);
  }
}

TrainingParams small(unsigned tensor, unsigned pipeline, unsigned replicas) {
  TrainingParams training;
  training.tensor = tensor;
  training.pipeline = pipeline;
  training.replicas = replicas;
  training.rts_state = replicas;
  training.accumulation = 3;
  training.tokens = 4;
  return training;
}

TEST(TrainingEngines, AgreeOnAPipelineWithoutCommonSteps) {
  TrainingParams training = small(1, 4, 2);
  training.set("schedule", "1f1b");
  for (std::uint64_t seed = 1; seed <= 6; ++seed) compare(training, seed);
}

TEST(TrainingEngines, AgreeOnChipsThatShareMatricesWithoutCommonSteps) {
  TrainingParams training = small(2, 2, 2);
  training.set("schedule", "1f1b");
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    training.share_sequence = seed % 2 == 0;
    compare(training, seed);
  }
}

TEST(TrainingEngines, AgreeOnMatricesCutInTwoDimensions) {
  TrainingParams training = small(4, 2, 1);
  training.tensor_columns = 2;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    training.set("schedule", seed % 2 == 0 ? "1f1b" : "grouped");
    compare(training, seed);
  }
}

TEST(TrainingEngines, AgreeOnPhasesThatStreamInTheBackground) {
  TrainingParams training = small(1, 2, 2);
  training.rts = 2;
  training.phases = 2;
  training.io_tiles = 64;
  for (const char* const prefetch : {"none", "weights", "all"}) {
    training.set("prefetch", prefetch);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) compare(training, seed);
  }
}

TEST(TrainingEngines, AgreeOnChipsThatShareMatricesAndTheSequence) {
  TrainingParams training = small(2, 2, 2);
  training.share_sequence = true;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) compare(training, seed);
}

}  // namespace
}  // namespace lacuna

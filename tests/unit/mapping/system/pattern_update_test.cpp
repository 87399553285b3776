// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/pattern_update.hpp"

#include <gtest/gtest.h>

#include "models/system/simulation.hpp"

namespace lacuna {
namespace {

using system::Part;
using system::Way;

// Two stages of a layer each, whose feed-forward blocks have patterns of 1000 bytes that the host
// takes 5000 ns to make: of 2 replicas one sends its 2000 bytes, both get theirs, and all wait for
// 10,000 ns and the bytes.
TEST(PatternUpdate, TheHostMakesThePatternsOfAReplicaAndSendsThemToAll) {
  system::SystemParams machine;
  system::TrainingParams training;
  training.pipeline = 2;
  training.replicas = 2;
  training.head_stage = 1;
  system::ModelParts model;
  model.layers = 2;
  system::ChipCosts costs(2);
  for (auto& chip : costs) {
    chip[static_cast<std::size_t>(Part::ffn)].forward.host_bytes = 1000;
    chip[static_cast<std::size_t>(Part::ffn)].forward.host_ns = 5000;
  }
  const auto phases = stages_of(training, model.layers);
  system::Program program;
  program.add(system::pattern_update({machine, training, model, phases, costs, 1.0, 0}));
  std::uint64_t out = 0;
  std::uint64_t in = 0;
  for (const system::Transfer& transfer : program.segments[0].transfers) {
    (transfer.way == Way::to_host ? out : in) += transfer.bytes;
  }
  EXPECT_EQ(out, 2U * 1000);
  EXPECT_EQ(in, 2U * 2 * 1000);
  const auto run = run_program(machine, system::Fabric(machine), program, {});
  EXPECT_GT(run.ns, 10'000U);
  // the host's 2 us and the bus's 0.5 us each way, and the barriers
  EXPECT_LT(run.ns, 10'000U + 2 * (2000 + 500 + 500) + 2 * machine.sync_ns(4));
}

}  // namespace
}  // namespace lacuna
